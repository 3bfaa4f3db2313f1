// What a handler of the admin API receives and returns. The route's schemas have read the call, the guard allowed it.
import type { Contract, RouteName } from './contract/contract.ts'
import type { AnswerOf, ReadOf, Route } from './contract/route.ts'
import type { Person, RequestHeaders } from './identity.ts'

export type Call<Described extends Route> = Caller<Described> & {
  readonly params: ReadOf<Described['params']>
  readonly query: ReadOf<Described['query']>
  readonly body: ReadOf<Described['body']>
  readonly headers: RequestHeaders
  readonly requestId: string
  /** Where the request came from. */
  readonly address: string
  setHeader(name: string, value: string | readonly string[]): void
}

/** Only a public route can be called without signing in. */
type Caller<Described extends Route> = Described['access'] extends 'public'
  ? { readonly person: Person | undefined }
  : { readonly person: Person }

type Handler<Described extends Route> = (call: Call<Described>) => Promise<AnswerOf<Described>>

/** A handler for every route: leaving one out does not compile. */
export type Handlers = { readonly [Name in RouteName]: Handler<Contract[Name]> }

/** The handlers of one part of the contract. */
export type HandlersOf<Table extends Readonly<Record<string, Route>>> = {
  readonly [Name in keyof Table]: Handler<Table[Name]>
}
