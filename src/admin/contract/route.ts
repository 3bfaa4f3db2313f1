// How a route of the admin API is described: once, for the server, the typed client, forms and the OpenAPI document.
// This folder imports zod and core alone, because the web interface is built from it.
import { z } from 'zod'

import type { Permission } from './permissions.ts'
import { keyId } from './values.ts'

/** On every answer to somebody who is signed in: what they may do now, so that a page notices when that changes. */
export const PERMISSIONS_HEADER = 'x-tollgate-permissions'

export const API_PREFIX = '/admin/api/v1'
/** Of a route that answers with events, as they come: each has a line of JSON. */
export const EVENT_STREAM = 'text/event-stream'

/** Outside the prefix, because every monitor looks here. */
export const METRICS_PATH = '/metrics'

/** Who may call: holders of the permission, everyone signed in, or everyone. A route without it does not compile. */
type Access = Permission | 'signed-in' | 'public'

/**
 * How far a permission reaches that somebody holds only within a group: nowhere, to all that belongs to the group, or, of
 * members, also to keys of their own. A route that needs a permission does not compile without it.
 */
type Reach = 'everywhere' | 'groups' | 'own'

export type AdminRoute = Common &
  (
    | { readonly access: Permission; readonly reach: Reach }
    | { readonly access: 'signed-in' | 'public'; readonly reach?: never }
  )

type Common = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below API_PREFIX, with parameters as `:name`. */
  readonly path: string
  /** One line for the OpenAPI document. */
  readonly summary: string
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject | z.ZodRecord
  readonly body?: z.ZodType
  /** The JSON of a success; with `media`, a text, or each event of a stream. */
  readonly answer: z.ZodType
  readonly media?: 'text/csv' | 'text/html' | typeof EVENT_STREAM
  /** 200 by default. */
  readonly status?: 201 | 303
  /** Needs If-Match: the version that the change is based on. */
  readonly versioned?: true
  /** A request sent twice with the same Idempotency-Key is done once. */
  readonly idempotent?: true
  /** Where more than usual may be sent. */
  readonly bodyBytesMax?: number
}

export type RouteTable = Readonly<Record<string, AdminRoute>>

const keyParams = z.object({ id: keyId })
const idParams = z.object({ id: z.string() })

/** `route('GET /keys/:id', access, { … })` keeps the types of its schemas; only the id of a key must have its form. */
export function route<
  const Address extends `${AdminRoute['method']} /${string}`,
  const Who extends Access,
  const Rest extends Described & ReachOf<Who>,
>(address: Address, access: Who, rest: Rest) {
  const [method = '', path = ''] = address.split(' ')
  const params = path.startsWith('/keys/:id') ? keyParams : idParams
  const read = (path.includes(':id') ? { params } : {}) as ParamsIn<Address>
  return { method: method as AdminRoute['method'], path, access, ...read, ...rest }
}

type ParamsIn<Address> = Address extends `${string}:id${string}`
  ? { readonly params: typeof idParams }
  : object

type Described = Omit<Common, 'method' | 'path'>
type ReachOf<Who> = Who extends Permission ? { readonly reach: Reach } : object

/** What a caller sends, and the answer. */
type ParamsOf<R extends AdminRoute> = InputOf<R['params']>
type QueryOf<R extends AdminRoute> = InputOf<R['query']>
export type BodyOf<R extends AdminRoute> = InputOf<R['body']>
export type AnswerOf<R extends AdminRoute> = z.output<R['answer']>

type Part<Name extends string, Value> = undefined extends Value
  ? object
  : object extends Value
    ? { readonly [N in Name]?: Value }
    : { readonly [N in Name]: Value }

/** The parts of a request that a route requires. */
export type Sent<R extends AdminRoute> = Part<'params', ParamsOf<R>> &
  Part<'query', QueryOf<R>> &
  Part<'body', BodyOf<R>>

type QueryValue = string | number | boolean | undefined

/** The same for any route. */
export type SentParts = {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, QueryValue | readonly QueryValue[]>> | undefined
  readonly body?: unknown
}

/** Its path with parameters and query, below the address of the gateway. */
export function addressOf({ path }: AdminRoute, { params = {}, query = {} }: SentParts): string {
  const named = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat()) if (each !== undefined) search.append(name, String(each))
  return `${API_PREFIX}${named}${search.size > 0 ? `?${search.toString()}` : ''}`
}

/** The same values after the schema has read them: with their defaults. */
export type ReadOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined
type InputOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined
