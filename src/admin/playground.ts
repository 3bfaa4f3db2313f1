// Calls that people make to try a key or a model, with their outcome and cost.
import { GatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { sentence } from '../core/sentences.ts'
import { usd } from '../core/units.ts'
import { findUsage, targetOf } from '../ledger/reports/usage.ts'
import { findKey, type Key } from '../store/keys/keys.ts'
import type { HandlersOf } from './call.ts'
import type { CallResult } from './contract/calls.ts'
import type { playgroundRoutes } from './contract/playground.ts'
import { invalidValue } from './error.ts'
import type { AdminParts } from './parts.ts'
import { shortageOf } from './shortage.ts'
import { runTrial, textOf, type Trial } from './trial.ts'

const PLAY_OUTPUT_TOKENS = 4_096
/** Enough for a model that thinks first to get a word out. */
const TEST_OUTPUT_TOKENS = 512

export function playgroundHandlers(parts: AdminParts): HandlersOf<typeof playgroundRoutes> {
  return {
    play: async ({ body }) => {
      const { model, messages, max_tokens = PLAY_OUTPUT_TOKENS, temperature } = body
      const key = await findKey(parts.store, body.key)
      return call(parts, { key, model, messages, outputTokensMax: max_tokens, temperature })
    },
  }
}

/** The smallest call that shows whether a key works, with the first model of its allowlist unless one is named. */
export async function testCall(
  parts: AdminParts,
  keyId: string,
  asked: string | undefined,
): Promise<CallResult> {
  const key = await findKey(parts.store, keyId)
  const model = asked ?? firstModel(parts, key)
  if (model === undefined) {
    throw invalidValue('model', sentence('key_without_model'))
  }
  const messages = [{ role: 'user', content: 'Answer with the word "ready".' }] as const
  return call(parts, { key, model, messages, outputTokensMax: TEST_OUTPUT_TOKENS })
}

/** Prefers a model that is available now. */
export function firstModel({ catalog }: AdminParts, { models }: Key): string | undefined {
  return models.find((model) => catalog().get(model)?.available === true) ?? models[0]
}

async function call(parts: AdminParts, trial: Omit<Trial, 'isDryRun'>): Promise<CallResult> {
  const requestId = newId('req', parts.clock)
  const startedMs = parts.clock.monotonicMs()
  const outcome = await runTrial(parts, requestId, { ...trial, isDryRun: false }).catch(refusal)
  const failed = outcome instanceof GatewayError ? outcome : undefined
  // A refused call has no row.
  const row = await findUsage(parts.store, requestId)
  return {
    request_id: requestId,
    model: trial.model,
    passes: failed === undefined,
    status: failed?.status ?? 200,
    error: failed === undefined ? null : errorJson(failed),
    text: outcome instanceof GatewayError ? null : textOf(outcome),
    target: row === undefined ? null : targetOf(row),
    input_tokens: row?.tokens.inputTokens ?? 0,
    output_tokens: row?.tokens.outputTokens ?? 0,
    cost: usd(row?.costNanodollars ?? 0n),
    latency_ms: Math.round(parts.clock.monotonicMs() - startedMs),
  }
}

function errorJson({ publicCode: code, message, details }: GatewayError) {
  return { code, message, shortage: shortageOf(details.facts) }
}

/** An error that the data plane would answer with is a result here; anything else is a fault. */
export function refusal(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  throw thrown
}
