// The commands of package.json: `node scripts/run.mjs COMMAND [ARGS]`.
import { launch } from './bootstrap.mjs'

const commands = {
  start: { needs: 'prod', script: 'src/cli/main.ts', args: ['demo', '--build-console'] },
  check: { needs: 'dev', script: 'scripts/check.ts', args: [] },
  lint: { needs: 'dev', script: 'scripts/check.ts', args: ['lint', 'format'] },
  typecheck: {
    needs: 'dev',
    script: 'scripts/check.ts',
    args: ['types', 'types of pure rooms', 'types of the console'],
  },
  'test:unit': { needs: 'dev', script: 'scripts/check.ts', args: ['unit tests', 'house test'] },
  'test:file': { needs: 'dev', script: 'scripts/test-file.ts', args: [] },
  test: { needs: 'dev', script: 'scripts/test.ts', args: [] },
  'test:deep': { needs: 'dev', script: 'scripts/test.ts', args: ['--deep'] },
  testenv: { needs: 'none', script: 'scripts/testenv.ts', args: [] },
  build: { needs: 'dev', script: 'scripts/build.ts', args: [] },
  fmt: { needs: 'dev', script: 'scripts/fmt.ts', args: [] },
  images: { needs: 'dev', script: 'scripts/images.ts', args: [] },
  'conformance:kustomize': { needs: 'dev', script: 'scripts/conformance-kustomize.ts', args: [] },
  'conformance:helm': { needs: 'dev', script: 'scripts/conformance-helm.ts', args: [] },
  'apply-histories': { needs: 'dev', script: 'scripts/apply-histories.ts', args: [] },
  'builtin-kinds': { needs: 'dev', script: 'scripts/builtin-kinds.ts', args: [] },
  docs: { needs: 'dev', script: 'scripts/docs.ts', args: [] },
  measures: { needs: 'none', script: 'scripts/measures.ts', args: [] },
}

const [name, ...args] = process.argv.slice(2)
const command = commands[name]
if (command) {
  await launch({ ...command, args: [...command.args, ...args] })
} else {
  process.stderr.write(`usage: npm run ${Object.keys(commands).join(' | ')}\n`)
  process.exitCode = 2
}
