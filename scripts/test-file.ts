// npm run test:file -- FILE…: single test files, with node's own reporter. Options of `node --test` may precede the
// files.
import { spawnSync } from 'node:child_process'
import { root } from './tiers.ts'

const args = process.argv.slice(2)
if (args.length === 0) {
  process.stderr.write('error: missing argument FILE\nhint: npm run test:file -- src/plan/rollout/budget.test.ts\n')
  process.exitCode = 2
} else {
  const { status } = spawnSync(process.execPath, ['--test', ...args], { cwd: root, stdio: 'inherit' })
  process.exitCode = status ?? 1
}
