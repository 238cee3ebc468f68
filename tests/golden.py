"""Expected outputs in files beside a case.

Shape: an absent file means that nothing is expected.
"""

from collections.abc import Callable
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


class Golden:
    """Holds what came out against what is expected."""

    def __init__(self, is_refreshed: Callable[[str], bool]) -> None:
        self._is_refreshed = is_refreshed

    def check(self, file: Path, actual: str) -> None:
        """The file holds exactly this text; where its case is to be refreshed it is written first."""
        case = file.relative_to(CORPUS).as_posix()
        if self._is_refreshed(case) or self._is_refreshed(case.rpartition("/")[0]):
            if actual:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(actual, encoding="utf-8", newline="")
            else:
                file.unlink(missing_ok=True)
        expected = file.read_bytes().decode() if file.exists() else ""
        assert actual == expected, f"{case} differs; if that is right: pytest --refresh '{case}'"
