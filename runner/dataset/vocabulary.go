package dataset

import (
	"math/rand/v2"
	"strings"
)

// Vocabulary is what made prompts consist of: pieces that count one each.
type Vocabulary struct {
	Words    []string // put together with blanks
	IDs      []int32  // when there are any, prompts are made of these token ids in place of words
	Begin    string   // stands before the words of each prompt
	Lead     []int32  // ids before each prompt made of ids
	Overhead int      // what the server counts of a prompt beside its pieces: chat template, salt, system prompt, beginning
	Counted  bool     // the pieces are tokens as the server counts them, so that a prompt's length is known
}

// Words is the vocabulary that needs no server: a piece is a common English word, one token each for most tokenizers.
func Words() Vocabulary { return Vocabulary{Words: strings.Fields(vocabulary)} }

// Size is the number of pieces there are.
func (v Vocabulary) Size() int {
	if len(v.IDs) > 0 {
		return len(v.IDs)
	}
	return len(v.Words)
}

// room is how many pieces make a prompt of n.
func (v Vocabulary) room(n int) int { return max(1, n-v.Overhead) }

// wanted is the length that the server should find for a prompt of n; 0 when nobody knows.
func (v Vocabulary) wanted(n int) int {
	if !v.Counted {
		return 0
	}
	return n
}

// pick appends n pieces, by their places.
func (v Vocabulary) pick(to []int32, rng *rand.Rand, n int) []int32 {
	size := v.Size()
	for range n {
		to = append(to, int32(rng.IntN(size)))
	}
	return to
}

// Prompt puts pieces together, which are given by their places.
func (v Vocabulary) Prompt(pieces []int32) Turn {
	if len(v.IDs) > 0 {
		ids := append(make([]int32, 0, len(v.Lead)+len(pieces)), v.Lead...)
		for _, p := range pieces {
			ids = append(ids, v.IDs[p])
		}
		return Turn{TokenIDs: ids}
	}
	var b strings.Builder
	b.WriteString(v.Begin)
	for i, p := range pieces {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(v.Words[p])
	}
	return Turn{Messages: []Message{{Role: "user", Content: b.String()}}}
}

// vocabulary are common short English words, one token each for most tokenizers.
const vocabulary = `able above account across act add after again age agree air all allow almost alone along already also always among
amount animal another answer any appear apple area arm around arrive art ask away back bad bag ball bank base be bear beat beautiful become bed before
begin behind believe below best better between big bird black blood blue board boat body bone book born both bottom box boy branch bread break bright
bring broad brother brown build burn busy but buy by call came can capital car card care carry case cat catch cause cell center century certain chair
chance change character charge chief child choose church circle city claim class clean clear climb close clothes cloud coast coat cold collect colony
color column come common company compare complete condition consider contain continue control cook cool copy corn corner correct cost cotton could
count country course cover cow create crop cross crowd cry current cut dance dark day dead deal dear death decide deep degree depend describe desert
design determine develop dictionary die differ difficult direct discuss distant divide doctor dog dollar done door double down draw dream dress drink
drive drop dry during each ear early earth ease east eat edge effect egg eight either electric element else end enemy energy engine enough enter equal
especially even evening event ever every exact example except excite exercise expect experience experiment eye face fact fair fall family famous far
farm fast fat father favor fear feed feel feet fell felt few field fig fight figure fill final find fine finger finish fire first fish fit five flat
floor flow flower fly follow food foot for force forest form forward found four fraction free fresh friend from front fruit full fun game garden gas
gather gave general gentle get girl give glad glass go gold gone good govern grand grass gray great green grew ground group grow guess guide gun hair
half hand happen happy hard has hat have he head hear heart heat heavy help her here high hill him his history hit hold hole home hope horse hot hour
house how huge human hundred hunt hurry ice idea if imagine inch include indicate industry insect instant instrument interest invent iron island it job
join joy jump just keep kept key kill kind king knew know lady lake land language large last late laugh law lay lead learn least leave left leg length
less let letter level lie life lift light like line liquid list listen little live locate log lone long look lost lot loud love low machine made magnet
main major make man many map mark market mass master match material matter may me mean measure meat meet melody men metal method middle might mile milk
million mind mine minute miss mix modern molecule moment money month moon more morning most mother motion mount mountain mouth move much multiply music
must my name nation natural nature near necessary neck need neighbor never new next night nine no noise noon north nose note nothing notice noun now
number numeral object observe occur ocean of off offer office often oil old on once one only open operate opposite or order organ original other our
out over own oxygen page paint pair paper paragraph parent part particular party pass past path pattern pay people perhaps period person phrase pick
picture piece pitch place plain plan plane planet plant play please plural poem point poor populate port pose position possible post pound power
practice prepare present press pretty print probable problem process produce product proper property protect prove provide pull push put quart question
quick quiet quite race radio rail rain raise ran range rather reach read ready real reason receive record red region remember repeat reply represent
require rest result rich ride right ring rise river road rock roll room root rope rose round row rub rule run safe sail salt same sand sat save saw say
scale school science score sea search season seat second section see seed seem segment select self sell send sense sentence separate serve set settle
seven several shall shape share sharp she sheet shell shine ship shoe shop shore short should shoulder shout show side sight sign silent silver similar
simple since sing single sister sit six size skill skin sky sleep slip slow small smell smile snow so soft soil soldier solution solve some son song
soon sound south space speak special speech speed spell spend spoke spot spread spring square stand star start state station stay stead steam steel step
stick still stone stood stop store story straight strange stream street stretch string strong student study subject substance subtract success such
sudden suffix sugar suggest suit summer sun supply support sure surface surprise swim syllable symbol system table tail take talk tall teach team teeth
tell temperature ten term test than thank that the their them then there these they thick thin thing think third this those though thought thousand
three through throw thus tie time tiny tire to together told tone too took tool top total touch toward town track trade train travel tree triangle trip
trouble truck true try tube turn twenty two type under unit until up us use usual valley value vary verb very view village visit voice vowel wait walk
wall want war warm was wash watch water wave way we wear weather week weight well went were west what wheel when where which while white who whole whose
why wide wife wild will win wind window wing winter wire wish with woman women wonder wood word work world would write written wrong yard year yellow
yes yet you young your`
