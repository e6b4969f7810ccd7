// npm run fmt: writes every file the way `npm run check` wants it.
import { endChildrenWithScript, run } from './child.ts'

endChildrenWithScript()
const paths = process.argv.slice(2)
const ended = await run(process.execPath, ['node_modules/oxfmt/bin/oxfmt', ...paths], {
  cwd: `${import.meta.dirname}/..`,
  onOutput: (text) => process.stdout.write(text),
})
process.exitCode = ended.code
