"""What a processor does at once and a loop does slowly: extracting and counting bits, comparing, asking for memory.

``extract(value, mask)`` packs the bits of ``value`` that ``mask`` selects into the low end, ``deposit``
is its inverse, on masks of up to 24 bits: x86's pext and pdep.  Where the processor has them they compile to one instruction;
everywhere else (arm64, or numba switched off) ``*_twin``, made of byte tables, does the same.
Both are tested to agree.  ``MORRIS_NO_PEXT=1`` selects the twin everywhere.

``matches`` compares 64 neighbours with vector instructions of whatever processor there is; its twin is the loop.
``prefetch`` changes no value anywhere: it is advice to the memory, which the twin does not give.
"""

import os
import platform

import numpy as np
from llvmlite import binding
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from .jit import JIT_DISABLED, inlined, kernel


def _byte_tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Extraction and deposit for all pairs (mask byte, value byte), and the mask bytes' bit counts."""
    extracted = np.zeros((256, 256), np.uint8)
    deposited = np.zeros((256, 256), np.uint8)
    values = np.arange(256)
    for mask in range(256):
        n = 0
        for bit in range(8):
            if mask >> bit & 1:
                extracted[mask] |= ((values >> bit & 1) << n).astype(np.uint8)
                deposited[mask] |= ((values >> n & 1) << bit).astype(np.uint8)
                n += 1
    return extracted, deposited, np.array([m.bit_count() for m in range(256)], np.int64)


_EXTRACTED, _DEPOSITED, _COUNTS = _byte_tables()


@inlined
def extract_twin(value, mask):
    """Byte-table extraction; ``value`` and ``mask`` are int64 below 2**24."""
    m0, m1, m2 = mask & 255, (mask >> 8) & 255, (mask >> 16) & 255
    n0 = _COUNTS[m0]
    low = np.int64(_EXTRACTED[m0, value & 255])
    middle = np.int64(_EXTRACTED[m1, (value >> 8) & 255])
    high = np.int64(_EXTRACTED[m2, (value >> 16) & 255])
    return low | (middle << n0) | (high << (n0 + _COUNTS[m1]))


@inlined
def deposit_twin(value, mask):
    """Byte-table deposit; ``value`` and ``mask`` are int64 below 2**24."""
    m0, m1, m2 = mask & 255, (mask >> 8) & 255, (mask >> 16) & 255
    n0 = _COUNTS[m0]
    n1 = n0 + _COUNTS[m1]
    low = np.int64(_DEPOSITED[m0, value & 255])
    middle = np.int64(_DEPOSITED[m1, (value >> n0) & 255])
    high = np.int64(_DEPOSITED[m2, (value >> n1) & 255])
    return low | (middle << 8) | (high << 16)


def _instruction(llvm_name: str):
    @intrinsic
    def call(typingctx, value, mask):
        def codegen(context, builder, signature, args):
            i64 = ir.IntType(64)
            function = builder.module.declare_intrinsic(
                llvm_name, (), ir.FunctionType(i64, (i64, i64))
            )
            return builder.call(function, args)

        return types.int64(types.int64, types.int64), codegen

    return call


@intrinsic
def _count_trailing_zeros(typingctx, value):
    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen


@inlined
def lowest_bit_compiled(value):
    return _count_trailing_zeros(np.int64(value))


def lowest_bit_twin(value):
    return (int(value) & -int(value)).bit_length() - 1


#: Number of the lowest bit set in a value that is not 0.
lowest_bit = lowest_bit_twin if JIT_DISABLED else lowest_bit_compiled


@inlined
def bit_count(mask):
    """How many bits are set in a mask of up to 24, an int64."""
    mask = mask - ((mask >> 1) & 0x555555)
    mask = (mask & 0x333333) + ((mask >> 2) & 0x333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F
    return (mask + (mask >> 8) + (mask >> 16)) & 31


@intrinsic
def _prefetch_element(typingctx, flat, index):
    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        byte, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", (byte,), ir.FunctionType(ir.VoidType(), (byte, i32, i32, i32))
        )
        # For reading, to be kept in all caches, data.
        address = builder.bitcast(builder.gep(array.data, [args[1]]), byte)
        builder.call(function, [address, i32(0), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(flat, types.int64), codegen


@inlined
def prefetch_compiled(flat, index):
    _prefetch_element(flat, np.int64(index))


def prefetch_twin(flat, index):
    pass


#: ``prefetch(flat, index)`` has the line of one element of a flat array fetched while other work goes on.
prefetch = prefetch_twin if JIT_DISABLED else prefetch_compiled


def _comparison(predicate):
    """Intrinsic ``(flat, start, mask, bits)``: the 64 elements from ``start`` on, masked and compared with ``bits``."""

    @intrinsic
    def compare_64(typingctx, flat, start, mask, bits):
        def codegen(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            element = context.get_data_type(signature.args[0].dtype)
            many = ir.VectorType(element, 64)
            address = builder.bitcast(builder.gep(array.data, [args[1]]), many.as_pointer())
            loaded = builder.load(address)
            loaded.align = element.width // 8

            def spread(number):
                number = builder.trunc(number, element) if element.width < 64 else number
                one = builder.insert_element(ir.Constant(many, ir.Undefined), number, ir.IntType(32)(0))
                return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64))

            found = builder.icmp_unsigned(predicate, builder.and_(loaded, spread(args[2])), spread(args[3]))
            return builder.bitcast(found, ir.IntType(64))

        return types.int64(flat, types.int64, types.int64, types.int64), codegen

    return compare_64


_equal_64, _at_most_64 = _comparison("=="), _comparison("<=")


@kernel
def matches_twin(flat, start, mask, bits):
    found = np.int64(0)
    for i in range(min(64, len(flat) - start)):
        found |= np.int64((np.int64(flat[start + i]) & mask) == bits) << i
    return found


@inlined
def matches_compiled(flat, start, mask, bits):
    found = np.int64(0)
    if start + 64 <= len(flat):
        found = _equal_64(flat, np.int64(start), np.int64(mask), np.int64(bits))
    else:
        found = matches_twin(flat, start, mask, bits)
    return found


#: ``matches(flat, start, mask, bits)``: which elements of flat[start:start + 64] have these ``bits`` under the mask, as
#: a set of bits, the first element's lowest; none behind the array's end.
matches = matches_twin if JIT_DISABLED else matches_compiled


@kernel
def at_most_twin(flat, start, most):
    found = np.int64(0)
    for i in range(min(64, len(flat) - start)):
        found |= np.int64(np.int64(flat[start + i]) <= most) << i
    return found


@inlined
def at_most_compiled(flat, start, most):
    found = np.int64(0)
    if start + 64 <= len(flat):
        found = _at_most_64(flat, np.int64(start), np.int64(-1), np.int64(most))
    else:
        found = at_most_twin(flat, start, most)
    return found


#: ``at_most(flat, start, most)``: the same of the elements of ``most`` or less, for unsigned ones of 32 bits at most.
at_most = at_most_twin if JIT_DISABLED else at_most_compiled

_pext = _instruction("llvm.x86.bmi.pext.64")
_pdep = _instruction("llvm.x86.bmi.pdep.64")


@inlined
def extract_instruction(value, mask):
    return _pext(np.int64(value), np.int64(mask))


@inlined
def deposit_instruction(value, mask):
    return _pdep(np.int64(value), np.int64(mask))


def has_instructions() -> bool:
    """Whether this processor has pext and pdep and compiled code may use them."""
    if JIT_DISABLED or platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    return bool(binding.get_host_cpu_features().get("bmi2"))


USES_INSTRUCTIONS = has_instructions() and not os.environ.get("MORRIS_NO_PEXT")
extract = extract_instruction if USES_INSTRUCTIONS else extract_twin
deposit = deposit_instruction if USES_INSTRUCTIONS else deposit_twin
