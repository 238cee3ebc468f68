// Starts `schemac lsp` for the YAML files of a workspace; everything else is done by the server.

import * as path from "node:path";

import { ExtensionContext, commands, window, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

/** Returns the command of the settings; a relative path with a folder in it starts at the workspace. */
function serverOptions(): ServerOptions {
  const words = workspace.getConfiguration("schemac").get<string[]>("command") ?? [];
  const [command = "schemac", ...args] = words.length > 0 ? words : ["schemac", "lsp"];
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath;
  const isRelative = folder !== undefined && /[\\/]/.test(command) && !path.isAbsolute(command);
  return { command: isRelative ? path.join(folder, command) : command, args, options: { cwd: folder } };
}

async function start(): Promise<void> {
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "yaml" },
      { scheme: "untitled", language: "yaml" },
      { scheme: "file", pattern: "**/{schemac,pyproject}.toml" },
    ],
    initializationOptions: { projectRules: workspace.isTrusted },
  };
  client = new LanguageClient("schemac", "schemac", serverOptions(), options);
  try {
    await client.start();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    void window.showErrorMessage(
      `schemac: the language server cannot be started: ${reason}. Install it with: pip install 'schemac[lsp]', ` +
        "and name it in the setting schemac.command.",
    );
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.needsStop()) {
    await running.stop();
  }
}

export async function activate(context: ExtensionContext): Promise<void> {
  const restart = async (): Promise<void> => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    commands.registerCommand("schemac.restart", restart),
    workspace.onDidGrantWorkspaceTrust(restart),
    workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("schemac.command")) {
        await restart();
      }
    }),
  );
  await start();
}

export function deactivate(): Promise<void> {
  return stop();
}
