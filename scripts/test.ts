// npm test: check, then every tier whose parts are on the machine; a table of what ran and what did not, last. `npm
// test -- sim real` runs only those tiers. With CI=true nothing is skipped: what is missing is fetched or built first.
// With CI=true, up to three files of a tier that fail run once more, alone; the table names those that then pass.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'
import { endChildrenWithScript, run } from './child.ts'
import { filesOf, filesToRunAgain, missingParts, root, runTier, type TierName, type TierResult } from './tiers.ts'

interface Row {
  readonly tier: string
  /** `UNSTABLE`: a few files failed, and passed when they ran once more, alone. */
  readonly outcome: 'passed' | 'FAILED' | 'UNSTABLE' | 'skipped'
  readonly result?: TierResult
  readonly note?: string
}

const TIERS = ['contract', 'sim', 'oracle', 'real', 'browser'] as const satisfies readonly TierName[]
const show = (text: string): boolean => process.stdout.write(text)

endChildrenWithScript()
process.exitCode = await main()

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: { deep: { type: 'boolean' } }, allowPositionals: true })
  const known: readonly TierName[] = values.deep ? [...TIERS, 'deep', 'node'] : TIERS
  const unknown = positionals.filter((name) => name !== 'check' && !(known as readonly string[]).includes(name))
  if (unknown.length > 0) {
    show(`there is no tier ${unknown.join(', ')}; there are: check, ${known.join(', ')}\n`)
    return 2
  }
  if (values.deep) process.env['FLOTILLA_DEEP'] = '1'
  const wanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name)
  const tiers = known.filter(wanted)
  const rows: Row[] = []
  if (wanted('check')) rows.push(await check())
  if (process.env['CI'] === 'true') await bringParts(tiers)
  for (const tier of tiers) rows.push(await runOrSkip(tier))
  if (wanted('check')) await run(process.execPath, ['scripts/measures.ts'], { cwd: root, onOutput: show })
  show(`\n${table(rows)}\n`)
  return rows.some((row) => row.outcome === 'FAILED') ? 1 : 0
}

async function check(): Promise<Row> {
  const started = performance.now()
  const { code } = await run(process.execPath, ['scripts/check.ts'], { cwd: root, onOutput: show })
  const seconds = (performance.now() - started) / 1000
  return { tier: 'check', outcome: code === 0 ? 'passed' : 'FAILED', note: `${seconds.toFixed(1)} s` }
}

async function runOrSkip(tier: TierName): Promise<Row> {
  const { parts, command } = missingParts(tier)
  if (parts.length > 0) {
    const note = `${parts.join(', ')} not on this machine; to enable: ${command}`
    return { tier, outcome: process.env['CI'] === 'true' ? 'FAILED' : 'skipped', note }
  }
  show(`\n${tier}: ${filesOf(tier).length} files\n`)
  const result = await runTier(tier, show)
  const again = process.env['CI'] === 'true' ? filesToRunAgain(tier, result) : undefined
  if (again !== undefined) {
    show(`\n${tier}, once more, alone: ${again.join(' ')}\n`)
    if ((await runTier(tier, show, again)).ok) {
      return { tier, outcome: 'UNSTABLE', result, note: `passed only when run again: ${again.join(' ')}` }
    }
  }
  return { tier, outcome: result.ok ? 'passed' : 'FAILED', result, ...(result.why && { note: result.why }) }
}

/** In CI every tier must run: fetches or builds what the machine lacks. What still lacks then fails its tier. */
async function bringParts(tiers: readonly TierName[]): Promise<void> {
  const missing = (tier: TierName): boolean => tiers.includes(tier) && missingParts(tier).parts.length > 0
  if (missing('oracle') || missing('real')) {
    await run(process.execPath, ['scripts/testenv.ts'], { cwd: root, onOutput: show })
  }
  if (missing('node')) await run(process.execPath, ['scripts/testenv.ts', 'node'], { cwd: root, onOutput: show })
  if (missing('browser')) await installDebian(['chromium'])
  if (tiers.includes('oracle')) {
    const packages = { promtool: 'prometheus', zsh: 'zsh', fish: 'fish', 'systemd-analyze': 'systemd' }
    await installDebian(Object.entries(packages).flatMap(([program, name]) => (isOnPath(program) ? [] : [name])))
  }
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((dir) => existsSync(join(dir, program)))
}

async function installDebian(names: readonly string[]): Promise<void> {
  if (names.length === 0 || !isOnPath('apt-get') || process.getuid?.() !== 0) return
  show(`installing ${names.join(', ')} with apt-get\n`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const install = ['install', '-y', '--no-install-recommends', ...names]
  for (const args of [['update'], install]) {
    const ended = await run('apt-get', ['-qq', ...args], { env })
    if (ended.code !== 0) show(ended.output)
  }
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ tier, outcome, result, note }) => {
    const counts = result && result.tests > 0 ? countsOf(result) : ''
    return `${tier.padEnd(9)} ${outcome.padEnd(8)} ${[counts, note].filter(Boolean).join('  ')}`.trimEnd()
  })
  return ['tier      outcome', ...lines].join('\n')
}

function countsOf({ tests, pass, fail, skipped, seconds }: TierResult): string {
  const parts = [`${tests} tests`, `${pass} passed`, `${fail} failed`]
  return [...parts, ...(skipped > 0 ? [`${skipped} skipped`] : []), `${seconds.toFixed(1)} s`].join(', ')
}
