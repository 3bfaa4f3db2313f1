// The name of a role: built-in roles in the reader's language, custom ones as they were named.
import { useTranslation } from './use-translation.ts'

type Role = { readonly id: string; readonly name: string }

export function useRoleName(): (role: Role) => string {
  const { find } = useTranslation()
  return ({ id, name }) => find(`builtInRole.${id}`) ?? name
}
