// The coding agents as programs: how each is given the gateway's address and a model, and is kept off every other
// network. Each reads and writes only inside its own folder.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { ensureDependencies } from '../../scripts/checkout.mjs'

const folder = fileURLToPath(new URL('.', import.meta.url))
const modules = join(folder, 'node_modules')

/** Installs the agents from their lockfile, unless they are already installed. */
export function ensureAgents(): Promise<void> {
  return ensureDependencies(folder)
}

export type Task = {
  readonly url: string
  readonly key: string
  readonly model: string
  /** The agent's home, empty at first. */
  readonly home: string
  /** The file to read with one of the agent's own tools. */
  readonly file: string
}

export type Command = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Only the gateway is reachable: all other traffic goes to a proxy that does not exist. */
const OFFLINE = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1',
}

const QUESTION = 'What does the file say?'

function steering(tool: string, args: object): string {
  return `tool=${tool} args=${JSON.stringify(args)}`
}

export function claudeCode({ url, key, model, file }: Task): Command {
  const asked = `[[sandbox ${steering('Read', { file_path: file })}]] ${QUESTION}`
  return {
    command: process.execPath,
    // This wrapper also starts the program that the skipped install script would have put in place.
    args: [
      join(modules, '@anthropic-ai', 'claude-code', 'cli-wrapper.cjs'),
      ...['-p', asked, '--model', model, '--output-format', 'json'],
    ],
    env: {
      ...OFFLINE,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  }
}

export function codex({ url, key, model, home, file }: Task): Command {
  const asked = `[[sandbox ${steering('exec_command', { cmd: `cat ${file}` })}]] ${QUESTION}`
  const config = `
    model = ${JSON.stringify(model)}
    model_provider = "tollgate"
    check_for_update_on_startup = false
    [model_providers.tollgate]
    name = "Tollgate"
    base_url = "${url}/v1"
    env_key = "TOLLGATE_API_KEY"
    wire_api = "responses"
    [analytics]
    enabled = false
  `
  write(join(home, '.codex', 'config.toml'), config)
  return {
    command: process.execPath,
    args: [
      join(modules, '@openai', 'codex', 'bin', 'codex.js'),
      // Its own sandbox needs privileges that containers lack.
      ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', asked],
    ],
    env: { ...OFFLINE, TOLLGATE_API_KEY: key },
  }
}

/** `provider` decides the format: opencode ships the AI SDK's providers for all three. */
export function opencode(provider: string): (task: Task) => Command {
  return ({ url, key, model, home, file }) => {
    // It rewrites quotes in the prompt, so the steering goes into a header.
    const headers = { 'x-tollgate-sandbox': steering('read', { filePath: file }) }
    const tollgate = {
      npm: provider,
      name: 'Tollgate',
      options: { baseURL: `${url}/v1`, apiKey: key, headers },
      models: { [model]: { name: model } },
    }
    const config = { autoupdate: false, share: 'disabled', provider: { tollgate } }
    write(join(home, '.config', 'opencode', 'opencode.json'), JSON.stringify(config))
    return {
      command: opencodeProgram() ?? '',
      args: ['run', '--model', `tollgate/${model}`, QUESTION],
      env: {
        ...OFFLINE,
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      },
    }
  }
}

/** The program itself, on Linux only: on other systems an install script has to put it in place. */
export function opencodeProgram(): string | undefined {
  const installed = readdirSync(modules).filter((name) => name.startsWith('opencode-'))
  // npm installs the musl build only on a musl system.
  const name = installed.find((each) => each.endsWith('-musl')) ?? installed[0]
  return name && join(modules, name, 'bin', 'opencode')
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
