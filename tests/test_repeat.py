"""The comparison of two executions: what counts as the same output."""

from __future__ import annotations

import nbformat.v4 as v4

from tools.repeat import printed


def notebook(*outputs):
    return v4.new_notebook(cells=[v4.new_code_cell("x", id="cell", outputs=list(outputs))])


def stream(text):
    return v4.new_output("stream", name="stdout", text=text)


def test_a_stream_split_by_the_kernel_is_the_same_output():
    assert printed(notebook(stream("a\nb\n"))) == printed(notebook(stream("a\n"), stream("b\n"))) == {"cell": "a\nb\n"}


def test_another_number_and_a_missing_output_differ():
    assert printed(notebook(stream("0.1"))) != printed(notebook(stream("0.2")))
    assert printed(notebook()) == {}


def test_addresses_do_not_count():
    shown = [v4.new_output("display_data", data={"text/plain": f"<object at {at}>"}) for at in ("0x7f00aa11", "0x7f00bb22")]
    assert printed(notebook(shown[0])) == printed(notebook(shown[1]))
