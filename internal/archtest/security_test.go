package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// advisories are those that docs/security/classes.md has to say something of.
func advisories() []string {
	var out []string
	for year, numbers := range map[string]string{
		"2018": "21034", "2020": "8826 8827 8828 11576", "2021": "23347 26921 26923 26924 41254",
		"2022": "24348 24730 24731 24904 31036 29165 31105 31034 24768 1025 31035 31102 24905 31016 41354 24877 24878 24817 36035 36049 39272",
		"2023": "40026 22482 22736 23947 50726 40025 25163 40029 40584",
		"2024": "31990 41666 28175 21661 29893 32476 40634 36106 37152 21652 21662 31989 22424 31216 52284",
		"2025": "55190 23216 47933 59531 59537 59538 55191 23390 53547",
		"2026": "42880 45737 45738 40109 47680 23990 24748 27111 27112 32828 41050 44935 44936 44937 44938",
	} {
		for number := range strings.FieldsSeq(numbers) {
			out = append(out, "CVE-"+year+"-"+number)
		}
	}
	return out
}

// TestEveryClassOfFaultsHasATestThatExists holds docs/security to the code: each row names a test, or says why the class cannot
// occur, and no advisory is left out.
func TestEveryClassOfFaultsHasATestThatExists(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	eachGoFile(t, parser.SkipObjectResolution, func(name string, _ *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasSuffix(name, "_test.go") {
				declared[f.Name.Name] = true
			}
		}
	})
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`")
	for _, page := range pages(t) {
		if path.Dir(page) != "docs/security" {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(textOf(t, page), -1) {
			if !declared[m[1]] {
				t.Errorf("%s names %s, which does not exist: write what the test is called now", page, m[1])
			}
		}
	}
	text := textOf(t, "docs/security/classes.md")
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 4 || strings.HasPrefix(strings.TrimSpace(cells[0]), "---") || strings.TrimSpace(cells[0]) == "class" {
			continue
		}
		if last := cells[len(cells)-1]; !named.MatchString(last) && !strings.Contains(line, "Cannot occur: ") {
			t.Errorf("docs/security/classes.md: %q has no test: name one in the last cell, or write there \"Cannot occur: \" and the reason", strings.TrimSpace(cells[0]))
		}
	}
	for _, id := range advisories() {
		if !regexp.MustCompile(id + `\b`).MatchString(text) {
			t.Errorf("docs/security/classes.md does not name %s: add it to the row of its class", id)
		}
	}
}

// TestEveryLinkOfAPageIsChecked holds that the pages make links of what others wrote by safeLink alone, and write no HTML.
func TestEveryLinkOfAPageIsChecked(t *testing.T) {
	t.Parallel()
	// What is not a text of others: a path of ours.
	ours := []string{"${m.oidc}", "hrefOf(app)"}
	address := regexp.MustCompile(`\b(?:href|src|formAction|xlinkHref|srcDoc)=\{([^{}]*(?:\$?\{[^{}]*\}[^{}]*)*)\}`)
	checked := regexp.MustCompile(`(?:const|let) (\w+) = safeLink\(`)
	forbidden := []string{"dangerouslySetInnerHTML", ".innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "window.open(", "new Function(", "eval("}
	found := 0
	eachFile(t, func(name string, content []byte) {
		if !strings.HasPrefix(name, "web/src/") || strings.Contains(name, ".test.") || !slices.Contains([]string{".ts", ".tsx"}, path.Ext(name)) {
			return
		}
		text := string(content)
		safe := map[string]bool{}
		for _, m := range checked.FindAllStringSubmatch(text, -1) {
			safe[m[1]] = true
		}
		for _, m := range address.FindAllStringSubmatch(text, -1) {
			found++
			if safe[m[1]] || strings.HasPrefix(m[1], "safeLink(") || slices.ContainsFunc(ours, func(o string) bool { return strings.Contains(m[1], o) }) {
				continue
			}
			t.Errorf("%s makes an address of %s: use safeLink, or say in this test why it is ours", name, m[1])
		}
		if strings.Contains(text, `"_blank", "`) {
			t.Errorf("%s opens an address: make it a link, whose address safeLink checks", name)
		}
		for _, way := range forbidden {
			if strings.Contains(text, way) {
				t.Errorf("%s uses %s, which could make a page or a script of texts of others: render text, and links by safeLink", name, way)
			}
		}
	})
	if found < 3 {
		t.Errorf("only %d links are found: the pattern does not fit any more", found)
	}
}
