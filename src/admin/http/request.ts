// What a handler of the admin API works with: the request, which the route's schemas have read and the guard allowed, and
// what the admin plane needs from the gateway.
import type { LastUse } from '../../access/authenticate.ts'
import type { Catalog } from '../../catalog/models.ts'
import type { Clock } from '../../core/clock.ts'
import type { AuthHeaders } from '../../core/endpoints.ts'
import type { Parts } from '../../exchange/exchange.ts'
import type { RefusalRecord } from '../../exchange/refusals.ts'
import type { Health } from '../../routing/breaker.ts'
import type { Scope } from '../../store/database/store.ts'
import { inTheNameOf, type Store } from '../../store/database/store.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Figure } from '../../telemetry/metrics.ts'
import type { Contract, RouteName } from '../contract/contract.ts'
import type { AdminRoute, AnswerOf, EVENT_STREAM, ReadOf, RouteTable } from '../contract/route.ts'
import type { Person, RequestHeaders } from './guard.ts'

type AdminRequest<Described extends AdminRoute> = Requester<Described> & {
  readonly params: ReadOf<Described['params']>
  readonly query: ReadOf<Described['query']>
  readonly body: ReadOf<Described['body']>
  readonly scope: Scope
  readonly headers: RequestHeaders
  readonly requestId: string
  /** Where the request came from. */
  readonly address: string
  readonly setHeader: (name: string, value: string | readonly string[]) => void
}

/** Only a public route can be called without signing in. */
type Requester<Described extends AdminRoute> = Described['access'] extends 'public'
  ? { readonly person: Person | undefined }
  : { readonly person: Person }

type Handler<Described extends AdminRoute> = (
  request: AdminRequest<Described>,
) => Promise<GivenBack<Described>>

/** A stream is cancelled when its caller leaves. */
type GivenBack<Described extends AdminRoute> = Described extends {
  readonly media: typeof EVENT_STREAM
}
  ? ReadableStream<AnswerOf<Described>>
  : AnswerOf<Described>

/** A handler for every route: leaving one out does not compile. */
export type Handlers = { readonly [Name in RouteName]: Handler<Contract[Name]> }

/** The handlers of one part of the contract. */
export type HandlersOf<Table extends RouteTable> = {
  readonly [Name in keyof Table]: Handler<Table[Name]>
}

export type AdminParts = {
  readonly clock: Clock
  readonly log: Log
  /** On SQLite a separate connection and thread: a long list must not hold up requests of the data plane. */
  readonly store: Store
  /** The gateway's own flow, for verdicts and for trial calls. */
  readonly flow: Parts & {
    readonly lastUse: Pick<LastUse, 'note'>
    readonly refusals: Pick<RefusalRecord, 'note'>
  }
  /** Where people reach the interface. */
  readonly publicUrl: string
  readonly version: string
  /** Where programs reach the data plane. */
  baseUrl(): string
  readonly catalog: () => Catalog
  /** The health of a target, as far as this process knows. */
  healthOf(target: { readonly provider: string; readonly model: string }): Health
  /** The counts and the condition of each serving process. */
  figures(): Promise<readonly (readonly Figure[])[]>
  /** The first part of secrets. */
  secretPrefix(): string
  authHeaders(): AuthHeaders
  /** How many keys and groups metrics tell apart. */
  readonly metricsKeysMax: number
  /** How long single requests are kept. */
  readonly keepUsageMs: number
}

/** Who sent a request, and from where; undefined = somebody who is not signed in. */
export type Sender = {
  readonly person: Person | undefined
  /** What the guard lets them reach. */
  readonly scope: Scope
  readonly address: string
  readonly requestId: string
}

/** The database as far as the caller reaches, with changes recorded in their name. */
export function storeOf({ store }: Pick<AdminParts, 'store'>, request: Sender): Store {
  const { person, scope, address, requestId } = request
  const actor = person?.email ?? 'not signed in'
  const source = person?.via === 'token' ? 'api' : 'ui'
  return { ...inTheNameOf(store, { actor, source, address, requestId }), scope }
}

/** The same parts, with the database as far as the caller reaches. */
export function partsOf<Parts extends Pick<AdminParts, 'store'>>(
  parts: Parts,
  request: Sender,
): Parts {
  return { ...parts, store: storeOf(parts, request) }
}
