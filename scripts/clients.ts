// Plays a stream, a loop of three tool calls, an object of a schema and errors with each client, or with those whose
// name contains one of the words, against a scripted model in four formats, through a gateway as a process of its own.
import { playAgent, playAider } from '../test/clients/play-agents.ts'
import {
  CLAUDE_CODE,
  CLAUDE_CODE_TOKEN,
  CODEX,
  ensureAgents,
  opencode,
} from '../test/clients/agents.ts'
import { LIBRARIES, playLibrary } from '../test/clients/libraries.ts'
import { factsOf, failedExamples, PROGRAMS } from '../test/clients/programs.ts'
import type { Facts, SceneName } from '../test/clients/scenes.ts'
import { jobFor, MODELS, problemsOf, SCENES } from '../test/clients/scenes.ts'
import { configFor, startUpstream, UPSTREAMS } from '../test/clients/upstream/server.ts'
import { startGateway } from '../test/support/gateway.ts'

// The AI SDK warns of what its providers leave out.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const words = process.argv.slice(2)
const isWanted = (name: string): boolean =>
  words.length === 0 || words.some((word) => name.toLowerCase().includes(word.toLowerCase()))

await using upstream = await startUpstream()
await using gateway = await startGateway({ config: configFor(upstream.url) })
const key = await gateway.key('clients', [...MODELS, 'sandbox-chat'].join(','), '--budget', 'none')
const job = jobFor(gateway.url, key)

const rows = new Map<string, Map<string, string>>()
const failures: string[] = []

for (const library of LIBRARIES.filter(({ name }) => isWanted(name)))
  await cells((upstream, scene) => playLibrary(library, scene, { upstream, job }))

for (const program of PROGRAMS.filter(({ name }) => isWanted(name))) {
  const facts = await factsOf(program, job).catch(
    (error: Error) => void failures.push(`${program.name}: ${error.message}`),
  )
  for (const each of facts ?? []) note(each)
}

if (isWanted('examples')) failures.push(...(await failedExamples(job)))

const agents = [
  CLAUDE_CODE,
  CLAUDE_CODE_TOKEN,
  CODEX,
  opencode('chat', '@ai-sdk/openai-compatible'),
  opencode('responses', '@ai-sdk/openai'),
  opencode('messages', '@ai-sdk/anthropic'),
].filter(({ name }) => isWanted(name))
if (agents.length > 0) await ensureAgents()
const place = (upstreamName: string) => ({
  upstream: upstreamName,
  job,
  streams: () => upstream.streams(upstreamName),
})
for (const agent of agents) await atOnce((name, scene) => playAgent(agent, scene, place(name)))
if (isWanted('aider'))
  for (const family of ['openai', 'anthropic'] as const)
    await atOnce((name, scene) => playAider(family, scene, place(name)))

const width = Math.max(...[...rows.keys()].map((name) => name.length))
console.log(['client'.padEnd(width), ...UPSTREAMS.map((name) => name.padEnd(9))].join('  '))
for (const [name, marks] of rows)
  console.log(
    [name.padEnd(width), ...UPSTREAMS.map((each) => (marks.get(each) ?? '').padEnd(9))].join('  '),
  )
console.log(`\neach cell: ${SCENES.join(', ')}; · = the client has no such thing`)
for (const failure of failures) console.log(`FAILED ${failure}`)
const books = await gateway.tollgate('ledger', 'verify', '--quiescent')
console.log(`tollgate ledger verify --quiescent: ${JSON.stringify(books)}`)
process.exitCode = failures.length > 0 ? 1 : 0

async function cells(play: (upstream: string, scene: SceneName) => Promise<Facts>): Promise<void> {
  for (const upstream of UPSTREAMS) for (const scene of SCENES) note(await play(upstream, scene))
}

/** Agents are slow to start and mostly wait. */
async function atOnce(play: (upstream: string, scene: SceneName) => Promise<Facts>): Promise<void> {
  await Promise.all(
    UPSTREAMS.map(async (upstream) => {
      for (const scene of SCENES) note(await play(upstream, scene))
    }),
  )
}

function note(facts: Facts): void {
  const { client, version, upstream, scene, lacks } = facts
  const problems = problemsOf(facts)
  const marks = rows.getOrInsertComputed(`${client} ${version}`, () => new Map<string, string>())
  marks.set(upstream, (marks.get(upstream) ?? '') + (lacks ? '·' : problems.length > 0 ? '✗' : '✓'))
  for (const problem of problems)
    failures.push(`${client} ${version} over ${upstream}, ${scene}: ${problem.slice(0, 600)}`)
}
