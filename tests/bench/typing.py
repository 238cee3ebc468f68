"""How long an author waits for the language server: `python -m tests.bench.typing`.

A scripted client types into a manifest over standard input and output: after each letter it waits for the findings about it, and
asks for a completion. What counts is the processor time of the server from the letter to both answers; the clock is
printed too, but others keep the machine busy.
"""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from lsprotocol import types

from tests.bench.workload import write_manifests
from tests.lsp.editor import Editor, editor

SIZES = (500, 10_000)
TYPED = "  - name: typed_here\n    type: {kind: Decimal, precision: 12, scale: 2}\n    extra:\n      lance.org/encoding: {compression: zstd}\n"


def processor_time(process: int) -> float:
    """Seconds that all threads of a process have run."""
    total = 0
    for thread in Path(f"/proc/{process}/task").iterdir():
        total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


async def typing(fields: int, folder: Path) -> tuple[list[float], list[float]]:
    """Milliseconds of each letter: of the processor, and by the clock."""
    path = write_manifests(folder / "tables", 1, fields) / "table_0.yaml"
    text = path.read_text()
    spent: list[float] = []
    waited: list[float] = []
    async with editor(folder) as e:
        uri = e.open(path)
        assert await e.found(uri) == []
        # A pause, so that what an opened text costs is over.
        await asyncio.sleep(1)
        at = text.index("  - name:", len(text) // 2)
        process = e.client._server
        assert process is not None
        for letter in TYPED:
            before, started = processor_time(process.pid), time.perf_counter()
            e.put(uri, at, at, letter)
            at += 1
            await asyncio.gather(e.found(uri), completion(e, uri, at))
            spent.append(1000 * (processor_time(process.pid) - before))
            waited.append(1000 * (time.perf_counter() - started))
        e.texts[uri] = text
    return spent, waited


async def completion(e: Editor, uri: str, at: int) -> None:
    before = e.texts[uri][:at]
    place = types.Position(before.count("\n"), at - before.rfind("\n") - 1)
    params = types.CompletionParams(types.TextDocumentIdentifier(uri), place)
    await e.client.text_document_completion_async(params)


def percentile(values: list[float]) -> float:
    """The 95th."""
    return statistics.quantiles(values, n=20)[-1]


def main() -> None:
    for fields in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            spent, waited = asyncio.run(typing(fields, Path(folder)))
        print(
            f"{fields} fields, {len(spent)} letters: processor p50 {statistics.median(spent):.0f} ms,"
            f" p95 {percentile(spent):.0f} ms; clock p50 {statistics.median(waited):.0f} ms, p95 {percentile(waited):.0f} ms"
        )


if __name__ == "__main__":
    main()
