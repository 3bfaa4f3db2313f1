// What the handlers of people work with, and helpers that read a call.
import { sentence } from '../../core/sentences.ts'
import { inTheNameOf, type Store } from '../../store/database/store.ts'
import type { Log } from '../../telemetry/log.ts'
import { AdminError } from '../error.ts'
import type { Person, RequestHeaders } from '../identity.ts'
import type { Mailer } from '../mail.ts'
import { authorOf } from '../parts.ts'
import type { Desk } from './desk.ts'
import type { SignIn, Visit } from './sign-in.ts'
import { strangerAt } from './strangers.ts'

export type PeopleParts = {
  readonly store: Store
  readonly log: Log
  /** Loaded only when somebody signs in or sends a cookie. */
  readonly signIn: () => Promise<SignIn>
  /** Undefined: links are shown to the person who makes them. */
  readonly mailer: Mailer | undefined
  readonly publicUrl: string
  /** Whether the operator configured that address; false = it is only where the server listens. */
  readonly publicUrlIsWritten: boolean
  /** The label of the single sign-on button; undefined = there is none. */
  readonly singleSignOnName: string | undefined
}

type Caller = {
  readonly headers: RequestHeaders
  readonly address: string
  readonly requestId: string
  readonly person: Person | undefined
}

/** The database, with changes recorded in the caller's name. */
export function storeFor({ store }: PeopleParts, call: Caller): Store {
  const { person, address, requestId } = call
  if (person !== undefined) return inTheNameOf(store, authorOf({ person, address, requestId }))
  return inTheNameOf(store, strangerAt(address, requestId))
}

export function deskFor(parts: PeopleParts, call: Caller & { readonly person: Person }): Desk {
  const { id, permissions } = call.person
  return { store: storeFor(parts, call), personId: id, rights: permissions }
}

export function visitOf({ headers, address }: Pick<Caller, 'headers' | 'address'>): Visit {
  return {
    cookie: textOf(headers['cookie']),
    address,
    userAgent: textOf(headers['user-agent']),
  }
}

/** The base URL of links: the configured address, which mails require, else the one that the caller used. */
export function linkBase(parts: PeopleParts, { headers }: Pick<Caller, 'headers'>): string {
  const host = textOf(headers['host'])
  if (parts.publicUrlIsWritten || host === undefined) return parts.publicUrl
  return `http://${host}`
}

/** A script with a token must not be able to extend its own access. */
export function demandBrowser({ via }: Person): void {
  if (via === 'session') return
  throw new AdminError('not_permitted', sentence('token_not_enough'))
}

function textOf(header: RequestHeaders[string]): string | undefined {
  return typeof header === 'string' ? header : header?.[0]
}
