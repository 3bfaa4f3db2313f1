// The scenes as coding agents play them: with their own tools, in a folder with three files. They repeat failed requests
// for minutes, so their errors are those that no repetition mends.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { JsonObject } from '../../src/core/json.ts'
import type { Ended } from '../support/process.ts'
import type { Agent, Command, Task } from './agents.ts'
import { agentVersion, runIn } from './agents.ts'
import { AIDER, aiderCommand } from './aider.ts'
import type { Facts, Job, SceneName } from './scenes.ts'
import { written } from './upstream/plan.ts'

const PERSON: JsonObject = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
}

export type Place = {
  readonly upstream: string
  readonly job: Job
  /** How many streams the upstream has sent so far. */
  streams(): number
}

type Seen = Omit<Facts, 'client' | 'version' | 'upstream' | 'scene'>

export async function playAgent(agent: Agent, scene: SceneName, place: Place): Promise<Facts> {
  const { upstream, job } = place
  const model = job.models[agent.family][upstream] ?? ''
  const ask = (more: Partial<Task>, files: Record<string, string> = {}) =>
    inFolder(files, (home) => {
      const task = { url: job.url, key: job.key, model, home, prompt: 'Hello', ...more }
      return runIn(home, agent.commandFor(task))
    })
  const seen = async (): Promise<Seen> => {
    if (scene === 'stream')
      return streamed(place, async () => agent.said(await ask({ prompt: job.prompts.stream })).text)
    if (scene === 'error') return { failures: await failures(job, (task) => ask(task)) }
    if (scene === 'object') {
      if (agent.lacks !== undefined) return { lacks: agent.lacks }
      const object = { name: 'Ann', age: 41 }
      // Claude Code offers a tool for it.
      const calls = agent.family === 'claude' ? [{ name: 'StructuredOutput', input: object }] : []
      const prompt = `Who is it? ${written({ object, calls })}`
      return { object: agent.said(await ask({ prompt, schema: PERSON })).object }
    }
    const calls = Object.keys(job.results).map((name) => agent.reading(`${name}.txt`))
    const files = Object.fromEntries(
      Object.entries(job.results).map(([name, text]) => [`${name}.txt`, `${text}\n`]),
    )
    const ended = await ask({ prompt: `Look up. ${written({ say: 'Looked up:', calls })}` }, files)
    const { text } = agent.said(ended)
    return readAll(job, text) ? looked(job) : { text: text + ended.stderr, places: [] }
  }
  return {
    client: agent.name,
    version: agentVersion(agent.package),
    upstream,
    scene,
    ...(await caught(seen)),
  }
}

export async function playAider(
  family: 'openai' | 'anthropic',
  scene: SceneName,
  place: Place,
): Promise<Facts> {
  const { upstream, job } = place
  const model = job.models[family === 'openai' ? 'gpt' : 'claude'][upstream] ?? ''
  const command = (home: string, more: Partial<Task>, args: readonly string[]): Promise<Command> =>
    aiderCommand(
      family,
      { url: job.url, key: job.key, model, home, prompt: 'Hello', ...more },
      ...args,
    )
  const edit = (name: string, text: string): string => `${name}\n\`\`\`\n${text}\n\`\`\`\n`
  const edited = (rounds: readonly string[], ...args: readonly string[]): Promise<string> =>
    inFolder({ 'note.txt': 'nothing\n' }, async (home) => {
      const prompt = `Edit. ${written({ rounds })}`
      const ended = await runIn(home, await command(home, { prompt }, [...args, 'note.txt']))
      const file = readFileSync(join(home, 'work', 'note.txt'), 'utf8')
      return file === 'nothing\n' ? ended.stdout + ended.stderr : file
    })
  const seen = async (): Promise<Seen> => {
    switch (scene) {
      case 'stream':
        return streamed(place, async () => {
          const { stdout } = await inFolder({}, async (home) =>
            runIn(home, await command(home, { prompt: job.prompts.stream }, [])),
          )
          return /one two three four five six/.exec(stdout)?.[0] ?? stdout
        })
      case 'tools': {
        const rounds = Object.values(job.results).map((text) => edit('note.txt', text))
        const test = ['--auto-test', '--test-cmd', 'grep mild note.txt || (echo not mild; false)']
        const text = await edited(rounds, ...test)
        return text.trim() === 'mild' ? looked(job) : { text, places: [] }
      }
      case 'object':
        return { object: JSON.parse(await edited([edit('note.txt', '{"name":"Ann","age":41}')])) }
      case 'error':
        return {
          failures: await failures(job, (task) =>
            inFolder({}, async (home) => runIn(home, await command(home, task, []))),
          ),
        }
    }
  }
  const client = `aider, ${family === 'openai' ? 'chat' : 'messages'}`
  return { client, version: AIDER.split('==')[1] ?? '', upstream, scene, ...(await caught(seen)) }
}

async function caught(seen: () => Promise<Seen>): Promise<Seen> {
  return seen().catch((error: unknown) => ({ thrown: String(error) }))
}

/** The text in one piece unless the upstream was asked to stream it. */
async function streamed({ streams }: Place, say: () => Promise<string>): Promise<Seen> {
  const before = streams()
  const text = await say()
  return { text, pieces: streams() > before ? 6 : 1 }
}

function readAll({ results }: Job, text: string): boolean {
  return new RegExp(Object.values(results).join('[^]*')).test(text)
}

function looked({ results }: Job): Seen {
  const told = Object.values(results).map((text) => `[${text}]`)
  return { places: Object.keys(results), text: `Looked up: ${told.join(' ')}` }
}

async function failures(job: Job, ask: (task: Partial<Task>) => Promise<Ended>) {
  const tasks = {
    refused: { prompt: job.prompts.refused },
    key: { key: 'tg_live_wrong' },
    model: { model: 'no-such-model' },
  }
  const statuses = { refused: 400, key: 401, model: 403 }
  const seen: Record<string, { status: number; message: string }> = {}
  for (const [name, task] of Object.entries(tasks)) {
    const { stdout, stderr } = await ask(task)
    // Some wrap their lines.
    const message = (stdout + stderr).replaceAll(/\s+/g, ' ')
    seen[name] = { status: statuses[name as keyof typeof tasks], message }
  }
  return seen
}

async function inFolder<T>(
  files: Record<string, string>,
  work: (home: string) => Promise<T>,
): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-agent-'))
  try {
    mkdirSync(join(home, 'work'))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(home, 'work', name), text)
    return await work(home)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
