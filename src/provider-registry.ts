// What can be called at present: the catalogue and the providers behind it. Rebuilt when the configuration or a price
// changes; running requests keep what they began with.
import { isDeepStrictEqual } from 'node:util'
import type { Caller } from './access/authenticate.ts'
import { TIMEOUTS } from './catalog/catalog.ts'
import { SANDBOX } from './catalog/knowledge.ts'
import { targetName } from './catalog/models.ts'
import type { Catalog, Model } from './catalog/models.ts'
import { FREE } from './catalog/prices.ts'
import { catalogOf } from './config/catalog-of.ts'
import type { Config } from './config/load.ts'
import { SENTENCES } from './core/sentences.ts'
import type { Destination, Route } from './exchange/prepare.ts'
import { makeProvider } from './providers/adapters.ts'
import { SANDBOX_MODELS } from './providers/sandbox/models.ts'
import { sandboxProvider } from './providers/sandbox/provider.ts'
import type { AdapterTools } from './providers/upstream/adapter.ts'
import type { Provider } from './providers/upstream/provider.ts'
import { Breaker, RetryBudget } from './routing/breaker.ts'
import type { Standing } from './routing/breaker.ts'
import { route } from './routing/route.ts'
import type { Choice, Routed } from './routing/route.ts'

export class Supply {
  readonly #tools: AdapterTools
  #config: Config
  #catalog: Catalog
  #providers: ReadonlyMap<string, Provider>
  /** By target and by model. They outlive a reload: a failing target goes on failing, unless its provider changed. */
  readonly #breakers = new Map<string, Breaker>()
  readonly #retries = new Map<string, RetryBudget>()
  /** The destinations of models with one target, where every conversation goes the same way. */
  #onlyOrders = new WeakMap<Model, readonly Destination[]>()

  constructor(config: Config, tools: AdapterTools) {
    this.#tools = tools
    this.#config = config
    this.#catalog = this.#makeCatalog(this.#config)
    this.#providers = makeProviders(config, tools)
  }

  get config(): Config {
    return this.#config
  }

  /** Rebuilt once a date or hour changes a price, so that no old price is charged a moment too long. */
  get catalog(): Catalog {
    const { changesAt } = this.#catalog
    if (changesAt !== null && changesAt <= this.#tools.clock.now())
      this.#catalog = this.#makeCatalog(this.#config)
    return this.#catalog
  }

  /** The configuration has changed: the new one applies from the next request on. */
  replace(config: Config): void {
    const catalog = this.#makeCatalog(config)
    const providers = makeProviders(config, this.#tools)
    // All or nothing: if anything above throws, the old configuration stays whole.
    this.#forgetChanged(config)
    this.#config = config
    this.#catalog = catalog
    this.#providers = providers
    this.#onlyOrders = new WeakMap()
  }

  /** Where this caller's request may go, in order. */
  route(caller: Caller, model: Model, request: Routed): Route {
    const retries = entryOf(this.#retries, model.id, () => new RetryBudget())
    // A test key never reaches a provider, whatever the model's name stands for.
    if (caller.mode === 'test') return { destinations: [this.#rehearsal(model)], retries }
    return { destinations: shakyLast(this.#destinationsOf(model, request)), retries }
  }

  /** The standing of a target, as far as this process knows. */
  standingOf({ provider, model }: { provider: string; model: string }): Standing {
    // The sandbox is a part of this process and has no breaker.
    if (provider === SANDBOX) return { name: 'answering' }
    return this.#breakers.get(targetName(provider, model))?.standing() ?? { name: 'uncalled' }
  }

  /** A provider with a new address or key may well answer: earlier failures say nothing about it. */
  #forgetChanged({ providers }: Config): void {
    for (const before of this.#config.providers) {
      const now = providers.find(({ name }) => name === before.name)
      if (isDeepStrictEqual(before, now)) continue
      for (const target of this.#breakers.keys())
        if (target.startsWith(targetName(before.name, ''))) this.#breakers.delete(target)
    }
  }

  #makeCatalog(config: Config): Catalog {
    return catalogOf(config, { sandbox: SANDBOX_MODELS, now: this.#tools.clock.now() })
  }

  #destinationsOf(model: Model, request: Routed): readonly Destination[] {
    const known = this.#onlyOrders.get(model)
    if (known !== undefined) return known
    const destinations = route(model, request).flatMap((choice) => this.#destination(choice))
    if (model.targets.length < 2) this.#onlyOrders.set(model, destinations)
    return destinations
  }

  #destination({ target, role, why }: Choice): Destination[] {
    const { provider: name, model, price, context, timeouts, traits } = target
    const provider = this.#providers.get(name)
    if (provider === undefined) return []
    const destination = {
      provider,
      model,
      price,
      context,
      timeouts,
      traits,
      why,
      ...(role === 'fallback' ? { outputTokensMax: target.maxOutput, lacks: target.lacks } : {}),
    }
    // A client that makes the sandbox fail wants that failure, and no other client should notice.
    if (name === SANDBOX) return [destination]
    const { clock } = this.#tools
    const breaker = entryOf(this.#breakers, targetName(name, model), () => new Breaker(clock))
    return [{ ...destination, breaker }]
  }

  #rehearsal(model: Model): Destination {
    const provider = this.#providers.get(SANDBOX)
    if (provider === undefined) throw new Error('the sandbox is always there')
    const why = SENTENCES.target_of_test_key
    // The sandbox reads inputs of any model's size, and its count is exact.
    const context = Infinity
    return { provider, model: model.id, price: FREE, context, timeouts: TIMEOUTS, why }
  }
}

/** The same order, but with targets that rest or often fail after those that do not. */
function shakyLast(destinations: readonly Destination[]): readonly Destination[] {
  const isShaky = ({ breaker }: Destination): boolean => breaker?.isShaky() === true
  if (!destinations.some(isShaky)) return destinations
  const sound = destinations.filter((destination) => !isShaky(destination))
  return [
    ...sound.map((each) => ({
      ...each,
      why: `${each.why}; ${SENTENCES.target_while_others_fail}`,
    })),
    ...destinations.filter(isShaky),
  ]
}

function entryOf<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const known = map.get(name)
  if (known !== undefined) return known
  const made = make()
  map.set(name, made)
  return made
}

function makeProviders(config: Config, tools: AdapterTools): ReadonlyMap<string, Provider> {
  const providers = new Map([[SANDBOX, sandboxProvider(tools.clock)]])
  for (const settings of config.providers) {
    providers.set(settings.name, makeProvider(settings, tools))
  }
  return providers
}
