// Below a list that does not know its length: more of it.
import { Button, Group } from '@mantine/core'
import { useTranslation } from '../i18n/use-translation.ts'

type LoadMoreProps = {
  readonly query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => unknown
  }
}

export function LoadMore({ query }: LoadMoreProps) {
  const { t } = useTranslation()
  if (!query.hasNextPage) return null
  return (
    <Group justify="center" mt="md">
      <Button
        variant="default"
        loading={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        {t('requests.more')}
      </Button>
    </Group>
  )
}
