// Loads more of a list whose length is unknown.
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
