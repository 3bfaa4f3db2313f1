// `npm run check`: types, lint, format and unit tests; the quick part for every commit.
process.argv.splice(2, Infinity, 'quick')
await import('./suite.ts')
