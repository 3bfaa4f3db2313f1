// The libraries for Python and Go as programs, each in an environment of its own under .cache, with its exact version.
// A program prints the facts of its cells, one per line.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { run } from '../support/process.ts'
import type { Facts, Job } from './scenes.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const cache = fileURLToPath(new URL('../../.cache/clients', import.meta.url))

export type Program = {
  readonly name: string
  /** Installs it and gives the command that runs it. */
  ready(): Promise<{ readonly command: string; readonly args: readonly string[] }>
}

const NEWEST = {
  openai: ['openai==3.51.0'],
  anthropic: ['anthropic==2.9.0'],
  langchain: ['langchain==1.4.7', 'langchain-openai==1.7.3', 'langchain-anthropic==1.7.7'],
  pydantic_ai: ['pydantic-ai==2.62.0'],
  agents: ['openai-agents==0.24.0'],
}

export const PROGRAMS: readonly Program[] = [
  python('openai_sdk', NEWEST.openai),
  python('openai_sdk', ['openai==2.54.0']),
  python('anthropic_sdk', NEWEST.anthropic),
  python('anthropic_sdk', ['anthropic==1.17.0']),
  python('langchain_library', NEWEST.langchain),
  python('pydantic_ai_library', NEWEST.pydantic_ai),
  python('openai_agents_library', NEWEST.agents),
  go('openai', 'openai-go/v3'),
  go('openai', 'openai-go/v2'),
  go('anthropic', 'anthropic-sdk-go/v2'),
  go('anthropic', 'anthropic-sdk-go'),
]

export async function factsOf({ ready }: Program, job: Job): Promise<Facts[]> {
  const { command, args } = await ready()
  const { stdout, stderr } = await run(command, [...args, JSON.stringify(job)], { env: ENV })
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  if (lines.length === 0) throw new Error(stderr)
  return lines.map((line) => JSON.parse(line) as Facts)
}

const ENV = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', NO_PROXY: '127.0.0.1' }

/** Runs the examples for Python in docs/using.md as they are printed, but for the address; says which failed. */
export async function failedExamples({ url, key }: Pick<Job, 'url' | 'key'>): Promise<string[]> {
  const text = readFileSync(new URL('../../docs/using.md', import.meta.url), 'utf8')
  const failed: string[] = []
  for (const [, block = ''] of text.matchAll(/^```python\n(.*?)^```/gms)) {
    const [, library = ''] = /^from (openai|anthropic|langchain|pydantic_ai)/m.exec(block) ?? []
    const command = await pythonWith(NEWEST[library as keyof typeof NEWEST])
    const program = block.replaceAll('http://127.0.0.1:4000', url)
    const env = { ...ENV, TOLLGATE_API_KEY: key }
    const { code, stdout, stderr } = await run(command, ['-c', program], { env })
    if (code !== 0 || stdout === '') failed.push(`docs/using.md, ${library}: ${stderr}`)
  }
  return failed
}

function python(program: string, requires: readonly string[]): Program {
  return {
    name: requires.join(' '),
    ready: async () => ({
      command: await pythonWith(requires),
      args: [join(folder, 'python', `${program}.py`)],
    }),
  }
}

/** The Python of an environment with these packages, which is made once even for scenes that begin together. */
export function pythonWith(requires: readonly string[]): Promise<string> {
  const name = requires.join('+').replaceAll(/[^\w.+-]+/g, '-')
  const made = environments.get(name) ?? makeEnvironment(join(cache, name), requires)
  environments.set(name, made)
  return made
}

const environments = new Map<string, Promise<string>>()

async function makeEnvironment(place: string, requires: readonly string[]): Promise<string> {
  const python = join(place, 'bin', 'python')
  const done = join(place, 'installed')
  if (existsSync(done)) return python
  rmSync(place, { recursive: true, force: true })
  await must(process.env['PYTHON'] ?? 'python3', ['-m', 'venv', place])
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  await must(python, [...pip, ...requires])
  writeFileSync(done, '')
  return python
}

/** The major versions of a library differ in their import path alone. */
function go(program: string, module: string): Program {
  return {
    name: module,
    async ready() {
      const place = join(cache, 'go')
      const name = module.replaceAll('/', '-')
      cpSync(join(folder, 'go'), place, { recursive: true })
      const source = readFileSync(join(place, program, 'main.go'), 'utf8')
      const [library = ''] = module.split('/')
      write(
        join(place, name, 'main.go'),
        source.replaceAll(new RegExp(`${library}(/v\\d+)?(?=["/])`, 'g'), module),
      )
      const command = join(place, 'bin', name)
      await must('go', ['build', '-C', place, '-o', command, `./${name}`])
      return { command, args: [] }
    },
  }
}

async function must(command: string, args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await run(command, args, { env: ENV })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stdout}${stderr}`)
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
