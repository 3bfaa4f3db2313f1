// A person's own account: name, password, second factor, sessions and personal access tokens. All but reading it needs
// a browser session: a token cannot make another token or change a password.
import { z } from 'zod'

import { PERMISSIONS } from './permissions.ts'
import { route } from './route.ts'
import { code, email, newPassword, oldPassword, personName, signedIn } from './sign-in.ts'
import { anyMoment, done, givenName, idParams, moment } from './values.ts'

export const TOKEN_DAYS_MAX = 366
export const TOKEN_NAME_LENGTH_MAX = 100

export const profile = signedIn.extend({
  has_password: z.boolean(),
  two_factor: z.boolean(),
})

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
  readProfile: route({
    method: 'GET',
    path: '/profile',
    access: 'signed-in',
    summary: 'Your own account',
    answer: profile,
  }),
  changeProfile: route({
    method: 'PATCH',
    path: '/profile',
    access: 'signed-in',
    summary: 'Change your name',
    body: z.strictObject({ name: personName }),
    answer: profile,
  }),
  changePassword: route({
    method: 'POST',
    path: '/profile/password',
    access: 'signed-in',
    summary: 'Change your password; every other session ends',
    body: z.strictObject({ current: oldPassword, password: newPassword }),
    answer: done,
  }),
  changeEmail: route({
    method: 'POST',
    path: '/profile/email',
    access: 'signed-in',
    summary: 'Change the e-mail address that you sign in with; every other session ends',
    body: z.strictObject({ email, password: oldPassword }),
    answer: profile,
  }),
  startTwoFactor: route({
    method: 'POST',
    path: '/profile/two-factor',
    access: 'signed-in',
    summary: 'Set up codes from an app; they are required once the first one is confirmed',
    body: proof,
    answer: recoveryCodes.extend({
      /** For the app, as text or as a picture: otpauth://… */
      uri: z.string(),
    }),
  }),
  confirmTwoFactor: route({
    method: 'POST',
    path: '/profile/two-factor/confirm',
    access: 'signed-in',
    summary: 'Confirm the first code from the app',
    body: z.strictObject({ code }),
    answer: done,
  }),
  endTwoFactor: route({
    method: 'POST',
    path: '/profile/two-factor/end',
    access: 'signed-in',
    summary: 'Switch codes off',
    body: proof,
    answer: done,
  }),
  newRecoveryCodes: route({
    method: 'POST',
    path: '/profile/recovery-codes',
    access: 'signed-in',
    summary: 'New recovery codes; the old ones no longer work',
    body: proof,
    answer: recoveryCodes,
  }),
  listSessions: route({
    method: 'GET',
    path: '/profile/sessions',
    access: 'signed-in',
    summary: 'Where you are signed in',
    answer: z.object({ sessions: z.array(personSession) }),
  }),
  endSession: route({
    method: 'DELETE',
    path: '/profile/sessions/:id',
    access: 'signed-in',
    summary: 'Sign out elsewhere',
    params: idParams,
    answer: done,
  }),
  signOutEverywhere: route({
    method: 'POST',
    path: '/profile/sign-out-everywhere',
    access: 'signed-in',
    summary: 'End all your sessions, this one too, and all your personal access tokens',
    answer: done,
  }),
  listTokens: route({
    method: 'GET',
    path: '/profile/tokens',
    access: 'signed-in',
    summary: 'Your personal access tokens',
    answer: z.object({ tokens: z.array(accessToken) }),
  }),
  createToken: route({
    method: 'POST',
    path: '/profile/tokens',
    access: 'signed-in',
    summary: 'Create a personal access token for scripts; its secret is only in this answer',
    body: newAccessToken,
    answer: accessToken.extend({ secret: z.string() }),
    status: 201,
  }),
  revokeToken: route({
    method: 'DELETE',
    path: '/profile/tokens/:id',
    access: 'signed-in',
    summary: 'End a personal access token',
    params: idParams,
    answer: done,
  }),
}
