import { historySuite } from '../../testing/apply-history-home.ts'

historySuite(2000)
