// The name of a role: those that are built in are named in the reader's language, one's own as they were called.
import { useTranslation } from './use-translation.ts'

type Role = { readonly id: string; readonly name: string }

export function useRoleName(): (role: Role) => string {
  const { find } = useTranslation()
  return ({ id, name }) => find(`builtInRole.${id}`) ?? name
}
