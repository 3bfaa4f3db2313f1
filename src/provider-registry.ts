// What can be called at present: the catalogue and the providers behind it. Rebuilt when the configuration or a price
// changes; running requests keep what they began with.
import { isDeepStrictEqual } from 'node:util'
import type { Caller } from './access/authenticate.ts'
import { targetName, type Catalog, type Model, type Target } from './catalog/models.ts'
import { catalogOf } from './config/catalog-of.ts'
import type { Config } from './config/load.ts'
import type { AuthHeaders } from './core/endpoints.ts'
import { SANDBOX } from './core/limits.ts'
import { SENTENCES } from './core/sentences.ts'
import { makeProvider } from './providers/adapters.ts'
import { sandboxTarget } from './providers/sandbox/models.ts'
import { sandboxProvider } from './providers/sandbox/provider.ts'
import type { AdapterTools } from './providers/upstream/adapter.ts'
import type { Provider } from './providers/upstream/provider.ts'
import { Breaker, RetryBudget, type Health } from './routing/breaker.ts'
import { inOrder, type Route, type Routed, type Routing } from './routing/route.ts'

export class ProviderRegistry {
  readonly #tools: AdapterTools
  #config: Config
  #catalog: Catalog
  #providers: ReadonlyMap<string, Provider>
  /** By target and by model. They outlive a reload: a failing target goes on failing, unless its provider changed. */
  readonly #breakers = new Map<string, Breaker>()
  readonly #retries = new Map<string, RetryBudget>()
  #routes = new WeakMap<Model, readonly Route[]>()

  constructor(config: Config, tools: AdapterTools) {
    this.#tools = tools
    this.#config = config
    this.#catalog = this.#makeCatalog(this.#config)
    this.#providers = makeProviders(config, tools)
  }

  get config(): Config {
    return this.#config
  }

  get authHeaders(): AuthHeaders {
    return this.#config.auth.headers
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
    this.#routes = new WeakMap()
  }

  /** Where this caller's request may go, in order. */
  route(caller: Caller, model: Model, request: Routed): Routing {
    const retries = entryOf(this.#retries, model.id, () => new RetryBudget())
    // A test key never reaches a provider, whatever the model's name stands for.
    if (caller.mode === 'test') return { routes: [this.#sandboxRoute(model)], retries }
    const routes = this.#routesOf(model)
    return { routes: routes.length < 2 ? routes : inOrder(routes, request), retries }
  }

  /** The health of a target, as far as this process knows. */
  healthOf({ provider, model }: Pick<Target, 'provider' | 'model'>): Health {
    // The sandbox is a part of this process and has no breaker.
    if (provider === SANDBOX) return { name: 'answering' }
    return this.#breakers.get(targetName(provider, model))?.health() ?? { name: 'uncalled' }
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
    return catalogOf(config, { now: this.#tools.clock.now() })
  }

  #routesOf(model: Model): readonly Route[] {
    const known = this.#routes.get(model)
    if (known !== undefined) return known
    const { targets, fallbacks } = model
    const why = targets.length === 1 ? SENTENCES.target_only : SENTENCES.target_by_weight
    const routes = [
      ...targets.flatMap((target) => this.#routeTo(target, { isFallback: false, why })),
      ...fallbacks.flatMap((target) =>
        this.#routeTo(target, { isFallback: true, why: SENTENCES.target_fallback }),
      ),
    ]
    this.#routes.set(model, routes)
    return routes
  }

  #routeTo(target: Target, role: Pick<Route, 'isFallback' | 'why'>): Route[] {
    const provider = this.#providers.get(target.provider)
    if (provider === undefined) return []
    // A client that makes the sandbox fail wants that failure, and no other client should notice.
    if (target.provider === SANDBOX) return [{ target, provider, ...role }]
    const breaker = entryOf(this.#breakers, target.name, () => new Breaker(this.#tools.clock))
    return [{ target, provider, ...role, breaker }]
  }

  #sandboxRoute(model: Model): Route {
    const provider = this.#providers.get(SANDBOX)
    if (provider === undefined) throw new Error('the sandbox is always there')
    // The sandbox reads inputs of any model's size, and its count is exact.
    const target = { ...sandboxTarget(model.id), context: Infinity }
    return { target, provider, isFallback: false, why: SENTENCES.target_of_test_key }
  }
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
