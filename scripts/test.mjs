// `npm test [-- PATTERN…]`: everything, or the test files whose path contains a pattern.
process.argv.splice(2, 0, 'all')
await import('./suite.ts')
