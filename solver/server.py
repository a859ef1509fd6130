"""Answers over HTTP, and the page with a board in ``web/``: what `morris serve` runs.

    /                 the page          /v1/position   a position, as `morris query --json` from tables alone
    /openapi.json     this list, exact  /v1/line       the same with the best line, as `morris query --line --json`
    /healthz          alive?            /v1/stats      counts of subspaces; of a single one its depths too
                                        /v1/tables     which tables are there
                                        /v1/variants   the games, their boards
                                        /v1/convert    a position or a game from any notation into all

Everything is read-only and answers GET alone.  The files of the page are read once, at the start, and nothing in a
request ever names a file.  An error is ``{"error": sentence, "code": word}``; words are stable (see ``CODES``).  What
needs a table that is not there is answered as *unknown*, and the header ``Morris-Missing-Tables`` names the table.

Tables are asked in a thread beside the event loop, lines and statistics in another, so that a long line holds up no
position; more threads would only fight for the interpreter.  A `Gate` counts the requests at work.
"""

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from . import __version__
from .errors import InputError, MissingTableError, MorrisError
from .query import CACHE_BYTES
from .service import Service, TooLongError

#: Longest query string, and requests at work at once (of them questions for lines and statistics).
MOST_QUERY, AT_ONCE, SLOW_AT_ONCE = 8000, 64, 8
#: Missing tables that one answer names.
MOST_NAMED = 8

#: Code of an error -> HTTP status.
CODES = {
    "input": 400, "not-found": 404, "missing-table": 404, "method": 405, "too-long": 414,
    "internal": 500, "damaged-table": 500, "busy": 503,
}  # fmt: skip

_PAGE_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'"
_HEADERS = {
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": f"{_PAGE_POLICY}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}  # fmt: skip
_TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml", ".json": "application/json",
}  # fmt: skip


class BusyError(MorrisError):
    """More requests are at work than are allowed."""


class Gate:
    """Counts the requests at work and refuses those that come on top."""

    def __init__(self, app, at_once: int):
        self.app, self.at_once, self.at_work = app, at_once, 0

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif self.at_work >= self.at_once:
            await _refused("busy", f"{self.at_once} requests are at work; ask again in a moment")(scope, receive, send)
        else:
            self.at_work += 1
            try:
                await self.app(scope, receive, send)
            finally:
                self.at_work -= 1


def make_app(data: Path | str, at_once: int = AT_ONCE, cache_bytes: int = CACHE_BYTES) -> Gate:
    """The application, for uvicorn or any other ASGI server."""
    service = Service(data, cache_bytes)
    quick = ThreadPoolExecutor(1, "morris-quick")
    slow = ThreadPoolExecutor(1, "morris-slow")
    slow_at_work = 0

    @asynccontextmanager
    async def lifespan(app):
        yield
        quick.shutdown()
        slow.shutdown(cancel_futures=True)
        service.close()

    def route(path: str, answer, *allowed: str, is_slow: bool = False) -> Route:
        async def endpoint(request):
            nonlocal slow_at_work
            question = _parameters(request, allowed)
            if not is_slow:
                return await asyncio.get_running_loop().run_in_executor(quick, _answered, answer, question)
            if slow_at_work >= min(SLOW_AT_ONCE, at_once):
                raise BusyError(f"{slow_at_work} questions for lines or statistics wait; ask again in a moment")
            slow_at_work += 1
            try:
                return await asyncio.get_running_loop().run_in_executor(slow, _answered, answer, question)
            finally:
                slow_at_work -= 1

        return Route(path, endpoint)

    async def health(request):
        return _json({"status": "ok", "version": __version__})

    routes = [
        route("/v1/position", service.position, "variant", "position", "moves", "details"),
        route("/v1/line", service.line, "variant", "position", "moves", is_slow=True),
        route("/v1/stats", service.stats, "variant", "subspace", "phase", is_slow=True),
        route("/v1/tables", service.table_list, "variant", is_slow=True),
        route("/v1/variants", service.variants),
        route("/v1/convert", service.convert, "variant", "text"),
        Route("/healthz", health),
        *(_file_route(path, content) for path, content in web_files().items()),
    ]
    handlers = {MorrisError: _on_morris_error, HTTPException: _on_http_error, Exception: _on_fault}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = False  # a redirection would repeat what the request says of its host
    return Gate(app, at_once)


def web_files() -> dict[str, bytes]:
    """The page and what belongs to it, by path.  The description of the interface gets its version here."""
    folder = files(__package__).joinpath("web")
    contents = {f"/{file.name}": file.read_bytes() for file in folder.iterdir() if Path(file.name).suffix in _TYPES}
    contents["/"] = contents.pop("/index.html")
    description = json.loads(contents["/openapi.json"])
    description["info"]["version"] = __version__
    contents["/openapi.json"] = json.dumps(description).encode()
    return contents


def _file_route(path: str, content: bytes) -> Route:
    kind, tag = _TYPES[Path(path).suffix or ".html"], f'"{sha256(content).hexdigest()[:16]}"'
    headers = {**_HEADERS, "Content-Type": kind, "ETag": tag, "Cache-Control": "no-cache"}

    async def endpoint(request):
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers)

    return Route(path, endpoint)


def _parameters(request, allowed: tuple[str, ...]) -> dict[str, str]:
    """The query string, each name at most once and none that means nothing here."""
    raw = request.scope["query_string"]
    if len(raw) > MOST_QUERY:
        raise TooLongError(f"{len(raw)} bytes of query are more than {MOST_QUERY}")
    try:
        pairs = parse_qsl(raw.decode("latin-1"), keep_blank_values=True, max_num_fields=8)
    except ValueError:
        raise InputError("there are too many parameters") from None
    question = dict(pairs)
    if len(question) < len(pairs):
        raise InputError("a parameter is given twice")
    for name in question:
        if name not in allowed:
            raise InputError(f"{name[:20]!r} is no parameter here; there are {', '.join(allowed) or 'none'}")
    return question


def _answered(answer, question: dict[str, str]) -> Response:
    data, missing = answer(**question)
    named = " ".join(missing[:MOST_NAMED]) + " ..." * (len(missing) > MOST_NAMED)
    return _json(data, headers={"Morris-Missing-Tables": named} if missing else {})


def _json(data, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Response(body, status, {**_HEADERS, "Cache-Control": "no-store", **(headers or {})}, "application/json")


def _refused(code: str, message: str, **more: str) -> Response:
    headers = {"Retry-After": "1"} if code == "busy" else {"Allow": "GET, HEAD"} if code == "method" else {}
    return _json({"error": message, "code": code, **more}, CODES[code], headers)


async def _on_morris_error(request, error: MorrisError) -> Response:
    """Messages name folders of this machine where they are about files; those are for its owner alone."""
    if isinstance(error, BusyError):
        return _refused("busy", str(error))
    if isinstance(error, TooLongError):
        return _refused("too-long", str(error))
    if isinstance(error, InputError):
        return _refused("input", str(error))
    if isinstance(error, MissingTableError):
        return _refused("missing-table", f"the table {error.subspace} is missing", table=error.subspace)
    print(f"morris: {error}", file=sys.stderr)
    return _refused("damaged-table", "a table that the answer needs is damaged; 'morris check' names it")


async def _on_http_error(request, error: HTTPException) -> Response:
    if error.status_code == 405:
        return _refused("method", "only GET is answered")
    return _refused("not-found", "there is nothing here; /openapi.json lists what there is")


async def _on_fault(request, error: Exception) -> Response:
    return _refused("internal", "something went wrong here; the server's log has it")
