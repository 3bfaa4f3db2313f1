// A key's name in the breadcrumb; its id until the name is known.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { keyQuery } from '../../queries.ts'

export function KeyCrumb() {
  const { id } = useParams({ from: '/app/settings/api-access/$id' })
  const { data } = useQuery({ ...keyQuery(id), refetchInterval: false })
  return data?.name ?? id
}
