// The current page of a list and the buttons to the others, for lists of known length.
import { Button, Group } from '@mantine/core'
import { useFormat } from '../i18n/use-format.ts'
import { useTranslation } from '../i18n/use-translation.ts'

type PagerProps = {
  readonly page: number
  readonly perPage: number
  readonly total: number
  readonly onPage: (page: number) => void
}

export function Pager({ page, perPage, total, onPage }: PagerProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const first = (page - 1) * perPage + 1
  const last = Math.min(page * perPage, total)
  return (
    <Group component="nav" justify="space-between" mt="sm" aria-label={t('table.pages')}>
      <span role="status" className="muted">
        {t('table.range', {
          first: format.number(Math.min(first, total)),
          last: format.number(last),
          total: format.number(total),
        })}
      </span>
      {total > perPage && (
        <Group gap="xs">
          <Button
            size="compact-md"
            variant="default"
            disabled={page <= 1}
            onClick={() => onPage(page - 1)}
          >
            {t('table.previous')}
          </Button>
          <Button
            size="compact-md"
            variant="default"
            disabled={last >= total}
            onClick={() => onPage(page + 1)}
          >
            {t('table.next')}
          </Button>
        </Group>
      )}
    </Group>
  )
}
