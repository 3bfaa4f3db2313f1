// What the single sign-on provider says about a person, checked before anything here follows from it.
import { email as emailSchema, personName } from '../contract/sign-in.ts'

type Profile = Readonly<Record<string, unknown>>

/** The library on its own would take any value but nothing for a yes, even the text "false". */
export function readProfile(profile: Profile): { emailVerified: boolean; name: string } {
  const name = personName.safeParse(profile['name'])
  return { emailVerified: isVerified(profile), name: name.success ? name.data : '' }
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

/** Some providers send the flag as text. */
function isVerified({ email_verified: flag }: Profile): boolean {
  return flag === true || flag === 'true'
}
