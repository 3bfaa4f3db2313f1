// The address parameters of the sign-in page.
import { z } from 'zod'
import { SINGLE_SIGN_ON_ERRORS } from '../../../../src/admin/contract/sign-in.ts'

export const signInSearch = z.object({
  /** Where to go afterwards: a page of this interface, never another site. */
  next: z.string().refine(isOwnPage).optional().catch(undefined),
  /** Why single sign-on failed. */
  error: z.enum(SINGLE_SIGN_ON_ERRORS).optional().catch(undefined),
})

/** The prefix of every page that requires a signed-in person. */
const ownPages = '/settings/'

/** Checked as written and as a browser resolves it, without dots and tabs: `/settings/..//evil.example`. */
function isOwnPage(address: string): boolean {
  return (
    address.startsWith(ownPages) &&
    new URL(address, 'https://own.invalid').pathname.startsWith(ownPages)
  )
}
