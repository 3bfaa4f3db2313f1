// Claude Code, Codex and opencode through the gateway, on models of other families: each reads a file with its own tool
// and reports the content, which it can know only if call and result both got through.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import type { Agent } from './agents.ts'
import {
  CLAUDE_CODE,
  CLAUDE_CODE_TOKEN,
  CODEX,
  ensureAgents,
  opencode,
  opencodeProgram,
  runIn,
} from './agents.ts'

const CASES: readonly { readonly agent: Agent; readonly model: string }[] = [
  { agent: CLAUDE_CODE, model: 'sandbox-chat' },
  { agent: CLAUDE_CODE, model: 'sandbox-chat@responses' },
  { agent: CLAUDE_CODE, model: 'sandbox-reasoner@responses' },
  { agent: CLAUDE_CODE_TOKEN, model: 'sandbox-chat' },
  { agent: CODEX, model: 'sandbox-chat@messages' },
  { agent: CODEX, model: 'sandbox-reasoner@messages' },
  { agent: CODEX, model: 'sandbox-chat' },
  { agent: opencode('chat', '@ai-sdk/openai-compatible'), model: 'sandbox-reasoner@messages' },
  { agent: opencode('responses', '@ai-sdk/openai'), model: 'sandbox-chat' },
  { agent: opencode('messages', '@ai-sdk/anthropic'), model: 'sandbox-chat@responses' },
]

const QUESTION = 'What does the file say?'

describe('coding agents', () => {
  let gateway: TestGateway
  let key: string
  let missing: string | undefined
  before(async () => {
    missing = await ensureAgents().then(
      () => undefined,
      (error: Error) => `the agents cannot be installed: ${error.message}`,
    )
    // One agent needs it; the others use their own family's header, which wins.
    gateway = await startGateway({ config: 'auth: { headers: either }' })
    key = await gateway.key('agents', CASES.map(({ model }) => model).join(','), '--budget', '20')
  })
  after(() => gateway.stop())

  for (const { agent, model } of CASES)
    test(`${agent.name} reads a file on ${model}`, async (t) => {
      if (missing !== undefined) return t.skip(missing)
      const isOpencode = agent.name.startsWith('opencode')
      if (isOpencode && opencodeProgram() === undefined)
        return t.skip('opencode is installed for Linux only')
      const home = mkdtempSync(join(tmpdir(), 'tollgate-agent-'))
      const file = join(home, 'work', 'note.txt')
      mkdirSync(join(home, 'work'))
      writeFileSync(file, 'The password is swordfish.\n')
      const { name, input } = agent.reading(file)
      const steering = `tool=${name} args=${JSON.stringify(input)}`
      const lines = gateway.log().length
      try {
        const task = { url: gateway.url, key, model, home }
        const command = agent.commandFor(
          // It rewrites quotes in the prompt.
          isOpencode
            ? { ...task, prompt: QUESTION, headers: { 'x-tollgate-sandbox': steering } }
            : { ...task, prompt: `[[sandbox ${steering}]] ${QUESTION}` },
        )
        const ended = await runIn(home, command)
        assert.equal(ended.code, 0, ended.stdout + ended.stderr)
        assert.match(agent.said(ended).text, /swordfish/, ended.stdout + ended.stderr)
        const requests = gateway
          .log()
          .slice(lines)
          .filter(({ event }) => event === 'request')
        // None of its requests was refused, not even one it could do without.
        assert.deepEqual([...new Set(requests.map(({ status }) => status))], [200])
        const answered = requests.filter(({ target }) => target === `sandbox/${model}`)
        assert.ok(answered.length >= 2, JSON.stringify(requests))
      } finally {
        rmSync(home, { recursive: true, force: true })
      }
    })
})
