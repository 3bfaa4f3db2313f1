// The JSON form of a model, for both the command line and the admin API.
import { formatUsd, type Picodollars } from '../core/money.ts'
import type { Model, Target } from './models.ts'
import type { Price, Rates } from './prices.ts'

export function modelJson(model: Model) {
  return {
    id: model.id,
    kind: model.kind,
    provider: (model.targets[0] ?? model.fallbacks[0])?.provider ?? null,
    targets: [
      ...model.targets.map((target) => targetJson(target, 'target')),
      ...model.fallbacks.map((target) => targetJson(target, 'fallback')),
    ],
    price: model.price === null ? null : priceJson(model.price),
    context: model.context,
    max_output: model.maxOutput,
    abilities: model.abilities,
    available: model.available,
    reason: model.reason,
  }
}

/** A target has its own price, whatever the model's first one costs. */
function targetJson({ provider, model, weight, price }: Target, role: 'target' | 'fallback') {
  return { provider, model, weight, role, price: priceJson(price) }
}

/** Tiers only where long inputs cost more; their rates then apply to the whole request. */
function priceJson({ rates, tiers, discount }: Price) {
  return {
    ...ratesJson(rates),
    ...(tiers.length > 0 && {
      tiers: tiers.map((tier) => ({
        above_input_tokens: tier.aboveInputTokens,
        ...ratesJson(tier.rates),
      })),
    }),
    ...(discount !== undefined && {
      discount: String(discount.millionths / 1_000_000),
      list: ratesJson(discount.list.rates),
    }),
  }
}

function ratesJson(rates: Rates) {
  return {
    input: perMillion(rates.input),
    cached: perMillion(rates.cached),
    cache_write: perMillion(rates.cacheWriteShort),
    cache_write_long: perMillion(rates.cacheWriteLong),
    output: perMillion(rates.output),
  }
}

/** pico-USD per token is micro-USD per million tokens. */
export function perMillion(price: Picodollars): string {
  return formatUsd(price * 1_000n)
}
