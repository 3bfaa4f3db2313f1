// The signed-in person, as the API shows them to themselves.
import type { Store } from '../../store/database/store.ts'
import { findPerson } from '../../store/people/people.ts'
import type { Person } from '../identity.ts'
import { listRoles, roleById } from './role-list.ts'

export async function signedInAnswer({ db }: Store, person: Person) {
  const stored = await findPerson(db, { id: person.id })
  const { id, name } = roleById(await listRoles(db), stored?.roleId ?? '')
  return {
    id: person.id,
    email: person.email,
    name: stored?.name ?? person.name,
    role: { id, name },
    permissions: [...person.permissions],
    via: person.via,
  }
}
