// What the sign-in page is told in its address.
import { z } from 'zod'
import { SINGLE_SIGN_ON_ERRORS } from '../../../../src/admin/contract/sign-in.ts'

export const signInSearch = z.object({
  /** Where to go afterwards: a page of this interface, never another site. */
  next: z.string().refine(isOwnPage).optional().catch(undefined),
  /** Why single sign-on did not work. */
  error: z.enum(SINGLE_SIGN_ON_ERRORS).optional().catch(undefined),
})

/** Where everything lies that needs somebody signed in. */
const pages = '/settings/'

/** As it is written and as a browser reads it, which leaves out dots and tabs: `/settings/..//evil.example`. */
function isOwnPage(address: string): boolean {
  return (
    address.startsWith(pages) && new URL(address, 'https://own.invalid').pathname.startsWith(pages)
  )
}
