// How people prove who they are, as the rest of Tollgate sees it. better-auth.ts implements it; nothing else knows that
// library, and no other module reads or makes a cookie.

/** A browser's request, as far as signing in needs it. */
export type Visit = {
  readonly cookie: string | undefined
  readonly address: string
  readonly userAgent: string | undefined
}

/** Values of Set-Cookie headers. */
export type Cookies = readonly string[]

export type Session = { readonly id: string; readonly personId: string }

export type SignInOutcome =
  | { readonly outcome: 'signed-in'; readonly personId: string; readonly cookies: Cookies }
  /** The password was right, and a code is required. */
  | { readonly outcome: 'code-needed'; readonly cookies: Cookies }
  /** Wrong, unknown or blocked: the caller does not learn which. The person, if known, is for the record. */
  | { readonly outcome: 'refused'; readonly personId: string | null }
  /** So many wrong codes that this sign-in is over. */
  | { readonly outcome: 'locked'; readonly personId: string | null }

export type SingleSignOn =
  | {
      readonly outcome: 'signed-in'
      readonly personId: string
      /** What the provider says of them. */
      readonly claims: Claims
      readonly cookies: Cookies
    }
  /** The reason is the library's or the provider's own word, for the record. */
  | { readonly outcome: 'refused'; readonly reason: string; readonly cookies: Cookies }
  /** The provider cannot be reached, or does not describe itself. */
  | { readonly outcome: 'unavailable' }

/** `people.single_sign_on.groups`: what groups at the provider give people here. */
export type SignOnGroups = {
  readonly claim: string
  readonly map: readonly {
    readonly value: string
    /** By its name; undefined = everywhere. */
    readonly group?: string | undefined
    /** By its name. */
    readonly role: string
  }[]
}

/** What a provider says of somebody. */
export type Claims = Readonly<Record<string, unknown>>

type TwoFactorSetup = {
  /** For an authenticator app: otpauth://… */
  readonly uri: string
  readonly recoveryCodes: readonly string[]
}

export interface SignIn {
  /** The session of this browser, if it is signed in. */
  session(visit: Visit): Promise<Session | undefined>
  signIn(
    visit: Visit,
    given: { readonly email: string; readonly password: string },
  ): Promise<SignInOutcome>
  /** The second step: a code from the app, or a recovery code, which is then used up. */
  enterCode(
    visit: Visit,
    given: { readonly code: string; readonly kind: 'app' | 'recovery' },
  ): Promise<SignInOutcome>
  signOut(visit: Visit): Promise<Cookies>
  /** Where to send the browser; undefined if the provider cannot be reached. */
  startSingleSignOn(
    visit: Visit,
  ): Promise<{ readonly location: string; readonly cookies: Cookies } | undefined>
  /** Takes the query that the provider sent the browser back with. */
  finishSingleSignOn(visit: Visit, query: Readonly<Record<string, string>>): Promise<SingleSignOn>
  /** This and the following need a session; undefined and false mean that the password or the code is wrong. */
  checkPassword(visit: Visit, password: string): Promise<boolean>
  startTwoFactor(visit: Visit, password: string): Promise<TwoFactorSetup | undefined>
  confirmTwoFactor(visit: Visit, code: string): Promise<Cookies | undefined>
  endTwoFactor(visit: Visit, password: string): Promise<Cookies | undefined>
  newRecoveryCodes(visit: Visit, password: string): Promise<readonly string[] | undefined>
}
