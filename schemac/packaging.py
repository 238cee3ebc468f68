"""A build hook of hatchling: compiles the manifests of a project into its wheel.

Layer: packaging.
Shape: artifacts are made outside of the source tree and put into the wheel under `out`; a source distribution has the manifests, and a
wheel that is built from it has the same artifacts.
"""

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from schemac.artifacts.store import Build, OutputStore
from schemac.artifacts.targets import target_names
from schemac.project.building import Output, compile_files
from schemac.project.configuration import Project, find_project
from schemac.project.options import CompileOptions
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json
from schemac.text.source.rendering import render_text

_SETTINGS = ("out", "paths", "targets", "strict")
_OF_HATCH = ("dependencies", "enable-by-default", "require-runtime-dependencies", "require-runtime-features")


class SchemacBuildHook(BuildHookInterface[Any]):
    """`[tool.hatch.build.hooks.schemac]`."""

    PLUGIN_NAME = "schemac"

    def initialize(self, version: str, build_data: Json) -> None:
        """Compile before a wheel is put together; a mistake in a manifest ends the build with what is wrong."""
        if self.target_name != "wheel":
            return
        self._check_settings()
        report = Report()
        project = find_project(Path(self.root), report)
        output = self._compile(project, report)
        if report.has_errors:
            self._refuse(render_text(report.diagnostics).rstrip())
        self._made = tempfile.mkdtemp(prefix="schemac-")
        made = os.path.join(self._made, "schemas")
        store = OutputStore(Path(made), self.config["out"], project.folder, self.app.display_info)
        store.write(Build(output.built, output.contents, True, output.missing), report)
        if report.has_errors:
            self._refuse(render_text(report.diagnostics).rstrip())
        # An editable wheel refers to the source tree, and has these files all the same.
        for kind in ("force_include", "force_include_editable"):
            build_data.setdefault(kind, {})[made] = self.config["out"]

    def finalize(self, version: str, build_data: Json, artifact_path: str) -> None:
        """Remove what was made, once it is in the wheel."""
        made = getattr(self, "_made", None)
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)

    def _compile(self, project: Project, report: Report) -> Output:
        """Return the build of the manifests that the hook's settings name, or those of the project; empty after errors."""
        configuration = project.configuration
        paths = self.config.get("paths") or configuration.manifests or (".",)
        files = project.manifests_at(paths, project.folder, report)
        options = CompileOptions.of(project, self.config.get("targets") or None)
        options = replace(options, strict=self.config.get("strict", configuration.strict))
        return Output() if report.has_errors else compile_files(files, project, options, report)

    def _check_settings(self) -> None:
        """End the build if a setting of the hook is unknown or not valid."""
        place = "[tool.hatch.build.hooks.schemac]"
        unknown = sorted(set(self.config) - {*_SETTINGS, *_OF_HATCH})
        if unknown:
            self._refuse(f"{place} has no setting {unknown[0]}; the settings are {', '.join(_SETTINGS)}")
        out = self.config.get("out")
        if not isinstance(out, str) or not out or os.path.isabs(out) or ".." in Path(out).parts:
            self._refuse(f'{place} needs `out`, a folder in the wheel, such as out = "my_package/schemas"')
        for name in ("paths", "targets"):
            value = self.config.get(name, [])
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                self._refuse(f"{place}: `{name}` has to be a list of texts")
        wrong = [one for one in self.config.get("targets", ()) if one not in target_names()]
        if wrong:
            self._refuse(
                f"{place}: there is no target {wrong[0]}; the targets are {', '.join(target_names())}"
            )

    def _refuse(self, message: str) -> None:
        """End the build of the wheel with a message."""
        self.app.abort(f"schemac: {message}")


@hookimpl
def hatch_register_build_hook() -> type[SchemacBuildHook]:
    """Return the hook, for hatchling."""
    return SchemacBuildHook
