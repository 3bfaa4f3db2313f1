// Mounts the interface.
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { startI18n } from './i18n/i18n.ts'
import { Toasts } from './parts/changes.tsx'
import { newQueryClient } from './base/queries.ts'
import { newRouter } from './router.tsx'
import { watchArrivals } from './parts/page-header.tsx'
import { theme } from './theme/theme.ts'
// Must come first: it declares the order of the cascade layers.
import './style.css'
import './theme/mantine.css'
import 'virtual:theme.css'

const root = document.getElementById('root')
if (root) {
  await startI18n()
  const queryClient = newQueryClient()
  const router = newRouter(queryClient)
  watchArrivals(router)
  createRoot(root).render(
    <StrictMode>
      {/* Both options write <style> elements. theme.css has the variables, and nothing uses the classes. */}
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        withCssVariables={false}
        withGlobalClasses={false}
      >
        <Toasts />
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
