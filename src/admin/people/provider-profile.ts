// What the single sign-on provider says about a person, checked before anything here follows from it.
import { stringOf } from '../../core/json.ts'
import { email as emailSchema, personName } from '../contract/sign-in.ts'

type Profile = Readonly<Record<string, unknown>>

export function readProfile(profile: Profile) {
  const name = personName.safeParse(profile['name'])
  return {
    email: stringOf(profile['email']),
    emailVerified: isVerified(profile),
    name: name.success ? name.data : '',
  }
}

/** Why nobody may come to an account, or to a new one, by this address; undefined = they may. */
export function addressProblem(
  profile: Profile,
  { trustEmail }: { readonly trustEmail: boolean },
): string | undefined {
  // As the provider spells it: in lower case, some letters turn into those of another address.
  if (!emailSchema.safeParse(profile['email']).success) return 'email_not_usable'
  return trustEmail || isVerified(profile) ? undefined : 'email_not_verified'
}

/** Some providers send the flag as text; nothing but a clear yes counts. */
function isVerified({ email_verified: flag }: Profile): boolean {
  return flag === true || flag === 'true'
}
