"""The page about editors."""

from docs.markdown import code, heading, section, table

_VS_CODE = "cd examples/editors/vscode\nnpm ci\nnpm run package\ncode --install-extension schemac-0.1.0.vsix"
_NEOVIM = """vim.lsp.config("schemac", {
  cmd = { "schemac", "lsp" },
  filetypes = { "yaml", "toml" },
  root_markers = { "schemac.toml", ".git" },
})
vim.lsp.enable("schemac")
vim.lsp.inlay_hint.enable()"""
_HELIX = """[language-server.schemac]
command = "schemac"
args = ["lsp"]

[[language]]
name = "yaml"
language-servers = ["schemac", "yaml-language-server"]"""
_EMACS = """(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((yaml-mode yaml-ts-mode) . ("schemac" "lsp"))))
(add-hook 'yaml-mode-hook #'eglot-ensure)"""
_ZED = """{
  "lsp": {
    "yaml-language-server": {
      "settings": {
        "yaml": { "schemas": { "./schemas/manifest.schema.json": ["tables/*.yaml"] } }
      }
    }
  }
}"""
_REQUESTS = (
    (
        "findings",
        (
            "those of `schemac check`, for all manifests of the project, with unsaved texts in the place of files; of pipelines, overlays and"
            " settings (`schemac.toml`, `pyproject.toml`) that are open"
        ),
    ),
    (
        "completion",
        (
            "kinds, properties, attributes that fit, their values, and names of the project; also while the text is not yet YAML; in a pipeline"
            " also manifests and the columns of its source, in an overlay datasets and fields"
        ),
    ),
    (
        "hover",
        "the type in each engine, the id and the numbers in the lock, the history, constraints and losses of a field; what a property or attribute is",
    ),
    (
        "definition",
        "of groups, imported files, referenced datasets and fields, vocabularies; of a field its lines in the lock",
    ),
    (
        "references",
        (
            "of fields in keys, constraints, other datasets and the lock; of groups, their parameters, datasets, attributes of vocabularies"
            " and files"
        ),
    ),
    (
        "rename",
        (
            "of a field what `schemac rename` does, with a preview: manifest, lock, and every dataset that has the field from the same group; and"
            " what other manifests, overlays and pipelines call it; a reference without `to:` gets one. A name with which there would be a new error"
            " is refused. Of groups, parameters, datasets and attributes of vocabularies: every file"
            " that has the name; a dataset keeps its lock"
        ),
    ),
    ("code actions", "the fix of a finding where it has one, and its explanation"),
    ("inlay hints", "the id of each field, and its Arrow type"),
    ("symbols", "datasets, fields and groups of a text, and of the whole project"),
    ("formatting", "as `schemac fmt`"),
)


def pages() -> dict[str, str]:
    """The page by its path."""
    return {
        "editors.md": heading(
            "Editors",
            "`schemac lsp` is a language server: it talks to an editor over standard input and output. It comes with the extra"
            " `lsp` (`pip install 'schemac[lsp]'`).",
            table(("request", "what the server tells"), _REQUESTS),
            "The project of a file is the folder of its configuration, or else the folder that the editor has opened, or its repository."
            " Files elsewhere, and texts that are no files yet, are checked alone. YAML that is no manifest has no errors.",
            "In a list of more than 40 fields, the edited fields are checked at once, and the whole manifest as soon as nobody types;"
            " a name that is used twice shows then.",
            section(
                "Visual Studio Code",
                "`examples/editors/vscode` is an extension that starts the server. The setting `schemac.command` names another command,"
                ' such as `[".venv/bin/schemac", "lsp"]`.',
                code(_VS_CODE, "sh"),
            ),
            section("Neovim", "Version 0.11 or newer, in `init.lua`:", code(_NEOVIM, "lua")),
            section("Helix", "In `languages.toml`:", code(_HELIX, "toml")),
            section(
                "Emacs",
                "With Eglot, which Emacs 29 has and older ones get as the package `eglot`, and `yaml-mode`, in `init.el`:",
                code(_EMACS, "elisp"),
            ),
            section(
                "Zed",
                "Zed starts only language servers that an extension brings. Its YAML support takes the JSON Schemas below, by their"
                " first lines or by `settings.json`:",
                code(_ZED, "json"),
            ),
            section(
                "Without the server",
                "`schemac init` writes JSON Schemas to `schemas/`, and names them in the first line of each file: for yaml-language-server"
                " in manifests and pipelines, for Taplo in `schemac.toml`. Commit them: editors then need neither schemac nor a network."
                " `schemac schema manifest --out schemas/manifest.schema.json` writes one again, after an update or for an engine that"
                " was installed since. The wheel has them too, below `share/schemac/schemas` of the environment that it is installed in.",
                code("# yaml-language-server: $schema=../schemas/manifest.schema.json", "yaml"),
                "A JSON Schema knows the grammar: kinds, properties, attributes where they fit, and their values. It does not know"
                " what is said of several values: names that are used twice, keys, references, conditions, groups.",
            ),
        )
    }
