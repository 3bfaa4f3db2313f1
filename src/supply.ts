// What there is to call at present: the catalogue and the providers behind it. Made anew when the configuration or a
// price changes; requests under way keep what they began with.
import type { Caller } from './access/caller.ts'
import { SANDBOX, TIMEOUTS } from './catalog/catalog.ts'
import type { Catalog, Model, Target } from './catalog/models.ts'
import { FREE } from './catalog/prices.ts'
import type { Config, Provider as ProviderConfig } from './config/load.ts'
import { catalogOf } from './config/catalog-of.ts'
import type { Call } from './core/call.ts'
import type { Clock } from './core/clock.ts'
import type { Destination } from './exchange/prepare.ts'
import { anthropicProvider } from './providers/anthropic.ts'
import type { HttpClient } from './providers/http.ts'
import { openAiProvider } from './providers/openai.ts'
import type { Provider } from './providers/provider.ts'
import { SANDBOX_MODELS } from './providers/sandbox/models.ts'
import { sandboxProvider } from './providers/sandbox/provider.ts'
import { route } from './routing/route.ts'

type Tools = { readonly http: HttpClient; readonly clock: Clock }

/** Prices may change with a date, and this is how late that may be noticed. */
const LOOK_EVERY_MS = 60_000

export class Supply {
  readonly #tools: Tools
  readonly #timer: NodeJS.Timeout
  #config: Config
  #catalog: Catalog
  #providers: ReadonlyMap<string, Provider>

  constructor(config: Config, tools: Tools) {
    this.#tools = tools
    this.#config = config
    this.#catalog = this.#makeCatalog()
    this.#providers = makeProviders(config, tools)
    this.#timer = setInterval(() => this.#refresh(), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  get config(): Config {
    return this.#config
  }

  get catalog(): Catalog {
    return this.#catalog
  }

  /** The configuration has changed: from the next request on this one holds. */
  replace(config: Config): void {
    this.#config = config
    this.#catalog = this.#makeCatalog()
    this.#providers = makeProviders(config, this.#tools)
  }

  /** Where this caller's request may go, in order. */
  route(caller: Caller, model: Model, call: Call): readonly Destination[] {
    // The test environment never reaches a provider, whatever the model's name stands for.
    if (caller.mode === 'test') return [this.#rehearsal(model)]
    return route(model, call.affinity).flatMap((target) => this.#destination(target))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #refresh(): void {
    const { changesAt } = this.#catalog
    if (changesAt !== null && changesAt <= this.#tools.clock.now())
      this.#catalog = this.#makeCatalog()
  }

  #makeCatalog(): Catalog {
    return catalogOf(this.#config, { sandbox: SANDBOX_MODELS, now: this.#tools.clock.now() })
  }

  #destination({ provider: name, model, price, context, timeouts }: Target): Destination[] {
    const provider = this.#providers.get(name)
    return provider === undefined ? [] : [{ provider, model, price, context, timeouts }]
  }

  #rehearsal(model: Model): Destination {
    const provider = this.#providers.get(SANDBOX)
    if (provider === undefined) throw new Error('the sandbox is always there')
    const context = model.context ?? Infinity
    return { provider, model: model.id, price: FREE, context, timeouts: TIMEOUTS }
  }
}

function makeProviders(config: Config, { http, clock }: Tools): ReadonlyMap<string, Provider> {
  const providers = new Map([[SANDBOX, sandboxProvider(clock)]])
  for (const settings of config.providers) {
    const provider = makeProvider(settings, http)
    if (provider !== undefined) providers.set(settings.name, provider)
  }
  return providers
}

/** One line a kind: what the adapter of each is made from. */
export function makeProvider(settings: ProviderConfig, http: HttpClient): Provider | undefined {
  switch (settings.kind) {
    case 'openai':
      return openAiProvider(settings, http)
    case 'anthropic':
      return anthropicProvider(settings, http)
    case 'azure':
    case 'gemini':
    case 'bedrock':
    case 'vertex':
      return undefined
  }
}
