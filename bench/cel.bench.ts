// How many evaluations a second, against a closure written by hand for the same predicate. Run with `node
// bench/cel.bench.ts`.
import { celEnvironment, compileCel } from '../src/cel/cel.ts'
import { DYNAMIC } from '../src/cel/declare-schema.ts'

const cluster = {
  metadata: { labels: { region: 'eu', tier: 'edge', version: 'v1.36.2' } },
  status: {
    nodes: 5,
    capacity: { cpu: '16', memory: '64Gi' },
    tags: Array.from({ length: 50 }, (_, index) => `t${index}`),
  },
}

const EXPRESSIONS: readonly (readonly [string, string])[] = [
  [
    'four clauses',
    `c.metadata.labels.region == 'eu' && c.metadata.labels.tier in ['edge', 'core'] && c.status.nodes >= 3 && !has(c.x)`,
  ],
  ['quantity', `quantity(c.status.capacity.memory).isGreaterThan(quantity('32Gi'))`],
  ['loop over 50', `c.status.tags.exists(t, t == 't49')`],
  ['pattern', `c.metadata.labels.version.matches('^v1\\\\.3[0-9]')`],
]

function perSecond(run: () => void): number {
  for (let warm = 0; warm < 2000; warm++) run()
  let count = 0
  const start = performance.now()
  while (performance.now() - start < 1000) {
    for (let inner = 0; inner < 100; inner++) run()
    count += 100
  }
  return Math.round(count / ((performance.now() - start) / 1000))
}

const environment = celEnvironment({ c: DYNAMIC })
process.stdout.write('evaluations/s  compilations/s  cost  expression\n')
for (const [name, source] of EXPRESSIONS) {
  const program = compileCel(source, environment)
  if (!program.ok) throw new Error(program.message)
  const result = program.evaluate({ c: cluster })
  if (!result.ok || result.value !== true) throw new Error(`${name}: not true`)
  const evaluations = perSecond(() => program.evaluate({ c: cluster }))
  const compilations = perSecond(() => compileCel(source, environment))
  process.stdout.write(
    `${String(evaluations).padStart(13)}  ${String(compilations).padStart(14)}  ${String(result.cost).padStart(4)}  ${name}\n`,
  )
}
