// Who sends a request to the admin API. The server asks, people/ answers: nothing else here knows how anyone signs in.
import type { Permission } from './contract/permissions.ts'

export type Person = {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly permissions: ReadonlySet<Permission>
  /** session = a cookie, which a browser sends by itself; token = a personal access token, which it does not. */
  readonly via: 'session' | 'token'
}

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Identity {
  /** Undefined: nobody is signed in, or no longer. Throws an AdminError if the credentials need a specific refusal. */
  find(request: {
    readonly headers: RequestHeaders
    readonly address: string
  }): Promise<Person | undefined>
}
