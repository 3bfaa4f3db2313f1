// The sandbox's models, as the catalogue lists them. The part of a name after `@` is the format that the model speaks
// upstream, so that every translation can be tried without a provider (docs/sandbox.md).
import { TIMEOUTS } from '../../catalog/catalog.ts'
import type { SandboxModel } from '../../catalog/catalog.ts'
import { IMAGE_TOKENS_MAX } from '../../catalog/model-facts.ts'
import { targetName, type Target } from '../../catalog/models.ts'
import { FREE, makePrice } from '../../catalog/prices.ts'
import type { Price } from '../../catalog/prices.ts'
import type { Format } from '../../core/endpoints.ts'
import { SANDBOX } from '../../core/limits.ts'
import type { Picodollars } from '../../core/money.ts'

const CONTEXT_TOKENS = 131_072
export const OUTPUT_TOKENS_MAX = 4_096

/** Prices in pico-USD per token: a million of them is one USD per million tokens. */
const CHAT = priceOf(1_000_000n, 2_000_000n)
const REASONER = priceOf(2_000_000n, 4_000_000n)
const EMBEDDING = priceOf(100_000n, 0n)

export const SANDBOX_MODELS: readonly SandboxModel[] = [
  chatModel('sandbox-chat', CHAT),
  chatModel('sandbox-chat@responses', CHAT),
  chatModel('sandbox-chat@messages', CHAT),
  chatModel('sandbox-reasoner', REASONER),
  chatModel('sandbox-reasoner@responses', REASONER),
  chatModel('sandbox-reasoner@messages', REASONER),
  {
    id: 'sandbox-embedding',
    kind: 'embedding',
    price: EMBEDDING,
    context: CONTEXT_TOKENS,
    maxOutput: 0,
    abilities: allAbilities(false),
  },
]

/** Test keys may use any other name; the caller's endpoint then decides what kind of model it is. */
export function sandboxFormatsOf(model: string): readonly Format[] {
  if (model.endsWith('@responses')) return ['responses']
  if (model.endsWith('@messages')) return ['messages']
  const known = SANDBOX_MODELS.find(({ id }) => id === model)
  if (known === undefined) return ['chat', 'embeddings']
  return known.kind === 'embedding' ? ['embeddings'] : ['chat']
}

/** The context size. Unbounded for other names: the real models they stand for may read more than the sandbox's. */
export function contextOf(model: string): number {
  return SANDBOX_MODELS.find(({ id }) => id === model)?.context ?? Infinity
}

/** The target of a test key's call to a model without targets, with the sandbox's own context and output limits. */
export function sandboxTarget(model: string): Target {
  return {
    name: targetName(SANDBOX, model),
    provider: SANDBOX,
    model,
    weight: 1,
    price: FREE,
    context: CONTEXT_TOKENS,
    maxOutput: OUTPUT_TOKENS_MAX,
    lacks: [],
    traits: {},
    imageTokens: IMAGE_TOKENS_MAX,
    writesCacheUnasked: false,
    timeouts: TIMEOUTS,
  }
}

export function reasonsFirst(model: string): boolean {
  return model.startsWith('sandbox-reasoner')
}

function chatModel(id: string, price: Price): SandboxModel {
  return {
    id,
    kind: 'chat',
    price,
    context: CONTEXT_TOKENS,
    maxOutput: OUTPUT_TOKENS_MAX,
    abilities: allAbilities(true),
    reasons: reasonsFirst(id),
  }
}

function allAbilities(has: boolean): SandboxModel['abilities'] {
  return { tools: has, images: has, files: has, structured_output: has, reasoning: has }
}

function priceOf(input: Picodollars, output: Picodollars): Price {
  const rates = { input, cached: input, cacheWriteShort: input, cacheWriteLong: input, output }
  return makePrice({ ...FREE, rates })
}
