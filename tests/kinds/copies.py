"""A copy of the compiler with one kind more, put in as CONTRIBUTING says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = {
    "schemac/language/attributes/attribute.py": (
        '    OPTION = "option"\n',
        '    OPTION = "option"\n    UUID = "uuid"\n',
    ),
    "schemac/language/kinds/registry.py": (
        "from schemac.language.kinds import nested, plain, sequences, temporal\n",
        "from schemac.language.kinds import nested, plain, sequences, temporal, uuid\n",
    ),
    "schemac/language/kinds/registry.py ": (
        "in (nested, plain, sequences, temporal)",
        "in (nested, plain, sequences, temporal, uuid)",
    ),
}
"""What is there, and what stands in its place, by file."""


def copy_with_uuid(folder: Path) -> Path:
    """Make the copy in an empty folder; its kind has a family of its own, and no number in the standard."""
    shutil.copytree(ROOT / "schemac", folder / "schemac", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "tests/kinds/uuid_kind.py", folder / "schemac/language/kinds/uuid.py")
    for name, (old, new) in LINES.items():
        file = folder / name.strip()
        text = file.read_text()
        assert text.count(old) == 1, name
        file.write_text(text.replace(old, new))
    return folder


def run_python(folder: Path, work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder with the compiler of another one."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=work, env=environment, capture_output=True, text=True, check=False
    )


if __name__ == "__main__":
    copy_with_uuid(Path(sys.argv[1]))
