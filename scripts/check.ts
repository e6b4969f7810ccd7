// npm run check: types, lint, format, house test and unit tests, two at a time. `npm run check -- lint types` runs
// these alone.
import { endChildrenWithScript, run } from './child.ts'
import { installConsole } from './console-workspace.ts'
import { root, runTier, type TierName } from './tiers.ts'

interface Step {
  readonly name: string
  readonly run: () => Promise<{ readonly ok: boolean; readonly output: string }>
}

/** The one file of the pure rooms that may know Node: see tsconfig.pure.json. */
const DOOR_TO_NODE = 'src/core/bytes.ts'

// The longest first, so that two at a time end together.
const steps: readonly Step[] = [
  { name: 'lint', run: () => tool('oxlint/bin/oxlint', '--type-aware', '--deny-warnings') },
  { name: 'unit tests', run: () => tests('unit') },
  { name: 'types', run: () => tool('typescript/bin/tsc', '--noEmit', '--pretty', 'false', '-p', '.') },
  { name: 'types of pure rooms', run: pureTypes },
  {
    name: 'types of the console',
    run: () => tool('typescript/bin/tsc', '--noEmit', '--pretty', 'false', '-p', 'console'),
  },
  { name: 'house test', run: () => tests('house') },
  { name: 'format', run: () => tool('oxfmt/bin/oxfmt', '--check') },
]

endChildrenWithScript()
process.exitCode = (await check(process.argv.slice(2))) ? 0 : 1

/** Runs the named steps, or all, and prints each outcome as the step ends; failures are repeated by name last. */
async function check(names: readonly string[]): Promise<boolean> {
  const started = performance.now()
  const waiting = steps.filter(({ name }) => names.length === 0 || names.includes(name))
  if (waiting.length === 0) {
    process.stdout.write(`unknown step: ${names.join(', ')}; steps: ${steps.map(({ name }) => name).join(', ')}\n`)
    return false
  }
  // Types and lint read the declarations of the console's dependencies.
  await installConsole()
  const failed: string[] = []
  const worker = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const at = performance.now()
      const { ok, output } = await step.run()
      if (!ok) failed.push(step.name)
      const text = output.trimEnd()
      const shown = text !== '' && (!ok || text.startsWith('# tests')) ? `${text}\n` : ''
      process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${step.name.padEnd(20)} ${seconds(at)}\n${shown}`)
    }
  }
  await Promise.all([worker(), worker()])
  const verdict = failed.length === 0 ? 'check passed' : `check FAILED: ${failed.join(', ')}`
  process.stdout.write(`${verdict} in ${seconds(started)}\n`)
  return failed.length === 0
}

async function tool(bin: string, ...args: string[]): Promise<{ ok: boolean; output: string }> {
  const ended = await run(process.execPath, [`node_modules/${bin}`, ...args], { cwd: root })
  return { ok: ended.code === 0, output: ended.output }
}

/** In the pure rooms only the door to Node may stumble over Node being unknown. */
async function pureTypes(): Promise<{ ok: boolean; output: string }> {
  const { ok, output } = await tool('typescript/bin/tsc', '--noEmit', '--pretty', 'false', '-p', 'tsconfig.pure.json')
  if (ok) return { ok, output }
  const errors = output.split('\n').filter((line) => line.includes('error TS'))
  const real = errors.filter((line) => !line.startsWith(`${DOOR_TO_NODE}(`))
  return { ok: errors.length > 0 && real.length === 0, output: real.join('\n') || output }
}

async function tests(tier: TierName): Promise<{ ok: boolean; output: string }> {
  const { ok, output, why } = await runTier(tier)
  return { ok, output: why === undefined ? output : `${output}\n${why}\n` }
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}
