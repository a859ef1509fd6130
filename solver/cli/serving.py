"""The server's command: serve."""

import ipaddress
import socket
import sys

import click

from ..errors import InputError, adding
from . import data_option
from .building import parse_bytes

#: Open connections above which uvicorn itself refuses, whatever they do.
MOST_CONNECTIONS = 1000


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 is every one of this machine.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes any free one.")
@click.option("--at-once", type=click.IntRange(1, 10000), default=64, show_default=True, help="Requests at work at once; others get 503.")
@click.option("--memory", metavar="SIZE", default="512M", show_default=True, help="For decompressed parts of tables.")
@data_option
def serve(host, port, at_once, memory, data) -> None:
    """Answer over HTTP, and show a board in the browser.

    The page is at /, the list of questions at /openapi.json.  Needs the extra web (see README.md).

    \b
    morris serve
    morris serve --port 9000 --data /srv/tables
    """
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise InputError(f"serve needs the library {error.name}; {adding('web')}") from None
    from ..server import make_app

    app = make_app(data, at_once, parse_bytes(memory))
    with _listening(host, port) as listener:
        address, port = listener.getsockname()[:2]
        click.echo(f"morris: http://{f'[{address}]' if ':' in address else address}:{port}/ (Ctrl-C ends it)", err=True)
        if not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
            click.echo("morris: note: every machine that reaches this address can ask", err=True)
        sys.setswitchinterval(0.001)  # a long line then holds up a short question less
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, proxy_headers=False, ws="none", lifespan="on",
            limit_concurrency=MOST_CONNECTIONS, timeout_keep_alive=15, timeout_graceful_shutdown=3,
        )  # fmt: skip
        try:
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:  # the way to end it
            pass


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; what is wrong with the address is unusable input."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off the delay of small packets, 40 ms an answer, only where the protocol is named.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
        return listener
    except (OSError, UnicodeError) as error:
        listener.close()
        raise InputError(f"cannot listen on {host[:80]!r}, port {port}: {getattr(error, 'strerror', None) or error}") from None
