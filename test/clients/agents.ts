// The coding agents as programs: how each is given the gateway's address, a model and a prompt, and what it says in the
// end. Only the gateway is reachable for them, and each reads and writes only inside its own folder.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { ensureDependencies } from '../../scripts/checkout.mjs'
import type { JsonObject } from '../../src/core/json.ts'
import { objectOf, parseObject, stringOf } from '../../src/core/json.ts'
import type { Ended } from '../support/process.ts'
import { start } from '../support/process.ts'

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
  /** The agent's home, empty at first. It works in `work` there. */
  readonly home: string
  readonly prompt: string
  /** What the last answer must look like. */
  readonly schema?: JsonObject
  /** Sent with every request, by agents that can. */
  readonly headers?: Readonly<Record<string, string>>
}

export type Command = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export type Agent = {
  readonly name: string
  readonly package: string
  readonly family: 'gpt' | 'claude'
  commandFor(task: Task): Command
  /** The call of its own tool that reads a file. */
  reading(file: string): { readonly name: string; readonly input: JsonObject }
  /** What it says in the end, and the object if it was asked for one. */
  said(ended: Ended): { readonly text: string; readonly object?: unknown }
  readonly lacks?: string
}

/** Other traffic goes to a proxy that does not exist. */
export const OFFLINE = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1',
}

export const CLAUDE_CODE = claudeCode('Claude Code', (key) => ({ ANTHROPIC_API_KEY: key }))

/** With the other family's header, and the list of models that it fetches before it begins (`auth.headers: either`). */
export const CLAUDE_CODE_TOKEN = claudeCode('Claude Code, token', (key) => ({
  ANTHROPIC_AUTH_TOKEN: key,
  CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
}))

function claudeCode(
  name: string,
  credentials: (key: string) => Readonly<Record<string, string>>,
): Agent {
  return {
    name,
    package: '@anthropic-ai/claude-code',
    family: 'claude',
    commandFor: ({ url, key, model, prompt, schema }) => ({
      command: process.execPath,
      // This wrapper also starts the program that the skipped install script would have put in place.
      args: [
        join(modules, '@anthropic-ai', 'claude-code', 'cli-wrapper.cjs'),
        ...['-p', prompt, '--model', model, '--output-format', 'json'],
        ...(schema === undefined ? [] : ['--json-schema', JSON.stringify(schema)]),
      ],
      env: {
        ...OFFLINE,
        ANTHROPIC_BASE_URL: url,
        ...credentials(key),
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    }),
    reading: (file) => ({ name: 'Read', input: { file_path: file } }),
    said({ stdout }) {
      const { result, structured_output: object } = parseObject(stdout) ?? {}
      return { text: stringOf(result) ?? '', object }
    },
  }
}

export const CODEX: Agent = {
  name: 'Codex',
  package: '@openai/codex',
  family: 'gpt',
  commandFor({ url, key, model, home, prompt, schema }) {
    const config = `
      model = ${JSON.stringify(model)}
      model_provider = "tollgate"
      check_for_update_on_startup = false
      [model_providers.tollgate]
      name = "Tollgate"
      base_url = "${url}/v1"
      env_key = "TOLLGATE_API_KEY"
      wire_api = "responses"
      request_max_retries = 0
      [analytics]
      enabled = false
    `
    write(join(home, '.codex', 'config.toml'), config)
    const schemaFile = join(home, 'schema.json')
    write(schemaFile, JSON.stringify(schema ?? {}))
    return {
      command: process.execPath,
      args: [
        join(modules, '@openai', 'codex', 'bin', 'codex.js'),
        // Its own sandbox needs privileges that containers lack.
        ...[
          'exec',
          '--json',
          '--skip-git-repo-check',
          '--dangerously-bypass-approvals-and-sandbox',
        ],
        ...(schema === undefined ? [] : ['--output-schema', schemaFile]),
        prompt,
      ],
      env: { ...OFFLINE, TOLLGATE_API_KEY: key },
    }
  },
  reading: (file) => ({ name: 'exec_command', input: { cmd: `cat ${file}` } }),
  said({ stdout }) {
    const items = linesOf(stdout).map(({ item }) => objectOf(item))
    const last = items.findLast(({ type }) => type === 'agent_message')
    const text = stringOf(last?.['text']) ?? ''
    return { text, object: parseObject(text) }
  },
}

/** `provider` decides the format: opencode ships the AI SDK's providers for all three. */
export function opencode(format: string, provider: string): Agent {
  return {
    name: `opencode, ${format}`,
    package: 'opencode',
    family: format === 'messages' ? 'claude' : 'gpt',
    commandFor({ url, key, model, home, prompt, headers = {} }) {
      const tollgate = {
        npm: provider,
        name: 'Tollgate',
        options: { baseURL: `${url}/v1`, apiKey: '{env:TOLLGATE_API_KEY}', headers },
        models: { [model]: { name: model } },
      }
      const config = { autoupdate: false, share: 'disabled', provider: { tollgate } }
      write(join(home, '.config', 'opencode', 'opencode.json'), JSON.stringify(config))
      return {
        command: opencodeProgram() ?? '',
        args: ['run', '--format', 'json', '--model', `tollgate/${model}`, prompt],
        env: {
          ...OFFLINE,
          TOLLGATE_API_KEY: key,
          OPENCODE_DISABLE_AUTOUPDATE: '1',
          OPENCODE_DISABLE_MODELS_FETCH: '1',
          OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
          OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        },
      }
    },
    reading: (file) => ({ name: 'read', input: { filePath: file } }),
    said({ stdout }) {
      const parts = linesOf(stdout).map(({ part }) => objectOf(part))
      const texts = parts.filter(({ type }) => type === 'text').map(({ text }) => String(text))
      return { text: texts.join('') }
    },
    lacks: 'opencode run takes no schema',
  }
}

/** The program itself, on Linux only: on other systems an install script has to put it in place. */
export function opencodeProgram(): string | undefined {
  const installed = readdirSync(modules).filter((name) => name.startsWith('opencode-'))
  // npm installs the musl build only on a musl system.
  const name = installed.find((each) => each.endsWith('-musl')) ?? installed[0]
  return name && join(modules, name, 'bin', 'opencode')
}

/** The pinned version of an agent. */
export function agentVersion(name: string): string {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>
  const all = Object.entries({ ...dependencies, ...optionalDependencies })
  return all.find(([each]) => each.startsWith(name))?.[1] ?? ''
}

/** Far more than any agent needs: one that waits for a network must not block the run. */
const MINUTES_MAX = 4

/** Runs an agent in its own folder, until it ends. */
export async function runIn(home: string, { command, args, env }: Command): Promise<Ended> {
  const work = join(home, 'work')
  mkdirSync(work, { recursive: true })
  const agent = start(command, args, {
    cwd: work,
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: home, TERM: 'dumb', ...env },
  })
  const timer = setTimeout(() => void agent.stop('SIGKILL'), MINUTES_MAX * 60_000)
  try {
    return await agent.ended
  } finally {
    clearTimeout(timer)
  }
}

function linesOf(stdout: string): JsonObject[] {
  return stdout.split('\n').map((line) => objectOf(parseObject(line)))
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
