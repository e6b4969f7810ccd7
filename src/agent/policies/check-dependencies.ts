/** Whether the checks that a check waits for have the states that it waits for. */
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { ReportedCheck } from '../../wire/link/frames.ts'

type Checks = NonNullable<BundleOptions['checks']>
type Dependency = NonNullable<Checks['dependsOn']>[number]
type State = Pick<ReportedCheck, 'bundle' | 'kind' | 'name' | 'state'>

/** The sentence that says what a check waits for; undefined when it may be evaluated. */
export function waitsFor(
  { dependsOn = [] }: Checks,
  check: Pick<State, 'bundle' | 'name'>,
  all: readonly State[],
): string | undefined {
  for (const dependency of dependsOn) {
    if (dependency.checks && !dependency.checks.includes(check.name)) continue
    const wanted = dependency.compliance ?? 'Compliant'
    const found = stateOf(dependency, check, all)
    if (found !== wanted)
      return `the following dependencies were not satisfied: ${describe(dependency)} is ${found ?? 'not on this cluster'}, and ${wanted} is required`
  }
  return undefined
}

/** The state of all checks that a dependency names together; undefined without one. A check never waits for itself. */
function stateOf(
  { bundles, kind, name }: Dependency,
  check: Pick<State, 'bundle' | 'name'>,
  all: readonly State[],
): State['state'] | undefined {
  const states = all
    .filter(
      (one) =>
        (bundles === undefined || bundles.includes(one.bundle)) &&
        (kind === undefined || one.kind === kind) &&
        (name === undefined || one.name === name) &&
        !(one.bundle === check.bundle && one.name === check.name),
    )
    .map(({ state }) => state)
  return (['NonCompliant', 'Pending', 'Unknown', 'Compliant'] as const).find((state) => states.includes(state))
}

function describe({ bundles, kind, name }: Dependency): string {
  if (name !== undefined) return `${kind ?? 'check'} ${name}`
  return bundles?.[0] === undefined ? (kind ?? 'each check') : `bundle ${bundles[0]}`
}
