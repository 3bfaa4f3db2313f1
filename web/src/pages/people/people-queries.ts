// Queries for people and roles.
import { queryOptions } from '@tanstack/react-query'
import { peopleRoutes } from '../../../../src/admin/contract/people.ts'
import { call } from '../../api.ts'

export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: async ({ signal }) => (await call(peopleRoutes.listPeople, { signal })).people,
})

export const rolesQuery = queryOptions({
  queryKey: ['roles'],
  queryFn: async ({ signal }) => (await call(peopleRoutes.listRoles, { signal })).roles,
})

/** Queries that a change of people or roles makes stale. */
export const madeOldByPeople = [['people'], ['roles'], ['audit']] as const
