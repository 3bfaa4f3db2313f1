// A person's own account: name, password, second factor, sessions and personal access tokens. All but reading it needs
// a browser session: a token cannot make another token or change a password.
import { z } from 'zod'

import { PERMISSIONS } from './permissions.ts'
import { route } from './route.ts'
import { code, email, newPassword, oldPassword, personName, signedIn } from './sign-in.ts'
import { anyMoment, done, givenName, moment } from './values.ts'

export const TOKEN_DAYS_MAX = 366
export const TOKEN_NAME_LENGTH_MAX = 100

export const profile = signedIn.extend({ has_password: z.boolean(), two_factor: z.boolean() })

export const personSession = z.object({
  id: z.string(),
  /** The session of this request. */
  current: z.boolean(),
  address: z.string().nullable(),
  user_agent: z.string().nullable(),
  created_at: moment,
  expires_at: moment,
})

export const accessToken = z.object({
  id: z.string(),
  name: z.string(),
  /** How it is shown after its only full display: tgp_…x7Qd */
  masked: z.string(),
  /** Null: whatever the person may do, now and later. */
  permissions: z.array(z.enum(PERMISSIONS)).nullable(),
  created_at: moment,
  expires_at: moment,
  last_used_at: moment.nullable(),
})

const proof = z.strictObject({ password: oldPassword })
const recoveryCodes = z.object({ recovery_codes: z.array(z.string()) })

const newAccessToken = z.strictObject({
  name: givenName(TOKEN_NAME_LENGTH_MAX, 'enter what it is for'),
  expires_at: anyMoment,
  permissions: z.array(z.enum(PERMISSIONS)).nullable().default(null),
  /** Required of everyone who has one; people who sign in only by single sign-on have none. */
  password: oldPassword.optional(),
})

export const profileRoutes = {
  readProfile: route('GET /profile', 'signed-in', { summary: 'Your own account', answer: profile }),
  changeProfile: route('PATCH /profile', 'signed-in', {
    summary: 'Change your name',
    body: z.strictObject({ name: personName }),
    answer: profile,
  }),
  changePassword: route('POST /profile/password', 'signed-in', {
    summary: 'Change your password; every other session ends',
    body: z.strictObject({ current: oldPassword, password: newPassword }),
    answer: done,
  }),
  changeEmail: route('POST /profile/email', 'signed-in', {
    summary: 'Change the e-mail address that you sign in with; every other session ends',
    body: z.strictObject({ email, password: oldPassword }),
    answer: profile,
  }),
  startTwoFactor: route('POST /profile/two-factor', 'signed-in', {
    summary: 'Set up codes from an app; they are required once the first one is confirmed',
    body: proof,
    answer: recoveryCodes.extend({
      /** For the app, as text or as a picture: otpauth://… */
      uri: z.string(),
    }),
  }),
  confirmTwoFactor: route('POST /profile/two-factor/confirm', 'signed-in', {
    summary: 'Confirm the first code from the app',
    body: z.strictObject({ code }),
    answer: done,
  }),
  endTwoFactor: route('POST /profile/two-factor/end', 'signed-in', {
    summary: 'Switch codes off',
    body: proof,
    answer: done,
  }),
  newRecoveryCodes: route('POST /profile/recovery-codes', 'signed-in', {
    summary: 'New recovery codes; the old ones no longer work',
    body: proof,
    answer: recoveryCodes,
  }),
  listSessions: route('GET /profile/sessions', 'signed-in', {
    summary: 'Where you are signed in',
    answer: z.object({ sessions: z.array(personSession) }),
  }),
  endSession: route('DELETE /profile/sessions/:id', 'signed-in', {
    summary: 'Sign out elsewhere',
    answer: done,
  }),
  signOutEverywhere: route('POST /profile/sign-out-everywhere', 'signed-in', {
    summary: 'End all your sessions, this one too, and all your personal access tokens',
    answer: done,
  }),
  listTokens: route('GET /profile/tokens', 'signed-in', {
    summary: 'Your personal access tokens',
    answer: z.object({ tokens: z.array(accessToken) }),
  }),
  createToken: route('POST /profile/tokens', 'signed-in', {
    summary: 'Create a personal access token for scripts; its secret is only in this answer',
    body: newAccessToken,
    answer: accessToken.extend({ secret: z.string() }),
    status: 201,
  }),
  revokeToken: route('DELETE /profile/tokens/:id', 'signed-in', {
    summary: 'End a personal access token',
    answer: done,
  }),
}
