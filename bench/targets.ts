// What the project promises of its speed, as ratios within one run (docs/performance.md).

/** In bare proxies: below it, the upstream would be measured and not the gateways. */
export const UPSTREAM_MINIMUM = 4
